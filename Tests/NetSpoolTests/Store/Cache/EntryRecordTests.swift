import Testing

@testable import NetSpool

struct EntryRecordTests {
  private let key = StoreKey(Array("the key".utf8))
  private let metadata: [UInt8] = [1, 2, 3]

  /// The facts of a record, as it is read; nil where it is refused.
  private func facts(
    bodyBytes: Int, largeFrom bodyOffset: Int? = nil, isFile: Bool = false, isHeadInline: Bool,
    inlineBody: [UInt8] = []
  ) -> EntryFacts? {
    let facts = EntryFacts(
      recency: 4, bodyID: 5, bodyBytes: bodyBytes,
      large: bodyOffset.map { EntryFacts.Large(page: 6, checksum: 7, bodyOffset: $0) },
      fileChecksum: isFile ? 8 : nil, namespace: 9)
    var bytes: [UInt8] = []
    bytes.encode(facts, key: key, metadata: metadata, isHeadInline: isHeadInline, inlineBody: inlineBody)
    guard let record = EntryRecord(bytes.rawBytes, key: key.digest) else { return nil }
    return record.facts
  }

  @Test func `what is written is read, wherever head and body are`() {
    let head = key.fullKey.count + metadata.count
    #expect(facts(bodyBytes: 2, isHeadInline: true, inlineBody: [1, 2])?.isInline == true)
    #expect(facts(bodyBytes: 9_000, largeFrom: head, isHeadInline: false)?.large?.bodyOffset == head)
    #expect(facts(bodyBytes: 9_000, largeFrom: head, isHeadInline: true)?.large?.bodyOffset == head)
    #expect(facts(bodyBytes: 9_000_000, isFile: true, isHeadInline: true)?.fileChecksum == 8)
  }

  @Test func `a record that names no place for its head, or has other lengths, is refused`() {
    let head = key.fullKey.count + metadata.count
    for offset in [0, head - 1, head + 1] {
      #expect(facts(bodyBytes: 9_000, largeFrom: offset, isHeadInline: false) == nil)
    }
    #expect(facts(bodyBytes: 9_000, largeFrom: head, isFile: true, isHeadInline: false) == nil)
    #expect(facts(bodyBytes: 9_000_000, isFile: true, isHeadInline: false) == nil)
    #expect(facts(bodyBytes: 2, isHeadInline: false, inlineBody: [1, 2]) == nil)
    #expect(facts(bodyBytes: 3, isHeadInline: true, inlineBody: [1, 2]) == nil)
  }
}
