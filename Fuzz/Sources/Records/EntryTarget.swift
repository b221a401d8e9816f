@testable import NetSpool

/// The cache's records, whole and damaged. Input as in `RecordTarget`.
enum EntryTarget {
  static func run(_ bytes: [UInt8]) {
    var input = InputReader(bytes)
    let choice = input.byte()
    var record = Array(input.rest)
    switch choice & 0x7F % 3 {
    case 0:
      if choice & 0x80 != 0 { mend(&record, seed: key.digest.checksumSeed) }
      checkEntry(record)
    case 1:
      if choice & 0x80 != 0 { mend(&record, seed: 7) }
      guard let namespace = NamespaceRecord(number: 7, decoding: record.rawBytes) else { return }
      let again = NamespaceRecord(number: 7, decoding: namespace.encode().rawBytes)
      require(again == namespace, "a namespace is read back as it was")
    default: checkMetadata(record)
    }
  }

  static let key = StoreKey(Array("1a\u{0}GET\u{0}https://host.test/".utf8))
  private static let now: Int64 = 1_720_000_000_000

  private static func mend(_ record: inout [UInt8], seed: UInt64) {
    guard record.count >= 8 else { return }
    let sum = Checksum.of(record.rawBytes.extracting(8..<record.count), seed: seed)
    for index in 0..<8 { record[index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
  }

  private static func checkEntry(_ bytes: [UInt8]) {
    guard let record = EntryRecord(bytes.rawBytes, key: key.digest) else { return }
    let headBytes = record.isHeadInline ? record.keyBytes + record.metadataBytes : 0
    let body = record.inlineBody.byteCount
    require(EntryRecord.headerBytes + headBytes + body == bytes.count, "its parts fill it exactly")
    require(!record.isHeadInline || record.keyBytes <= headBytes, "its key lies in it")
    require(record.facts.weight(pageBytes: 4096) > 0, "it weighs something")
    if record.isHeadInline {
      let start = EntryRecord.headerBytes + record.keyBytes
      checkMetadata(Array(bytes[start..<start + record.metadataBytes]))
    }
  }

  private static func checkMetadata(_ bytes: [UInt8]) {
    for rules in [CacheRules.standard, .relaxed] {
      switch PrimaryEntry(decoding: bytes.rawBytes, rules: rules) {
      case nil: break
      case .variants(let index):
        require(VariantIndex(decoding: index.encode().rawBytes) == index, "an index is read back as it was")
        _ = CacheKey.variant(index, of: key.fullKey, headers: Headers())
      case .response(let response): check(response, rules)
      }
    }
  }

  private static func check(_ response: StoredResponse, _ rules: CacheRules) {
    let again = StoredResponse(decoding: response.encode(), rules: rules)
    require(again == response, "an entry is read back as it was")
    for moment in [0, now, .max, .min] {
      require(response.age(at: moment) >= 0, "no age is negative")
      _ = CacheDecision.make(for: CacheRequest(), stored: response, now: moment)
      _ = response.mayServeStale(after: .status(503), to: CacheRequest(), now: moment)
      _ = response.servedHeaders(age: response.age(at: moment))
    }
    let head = ResponseHead(version: .http11, status: 304, headers: response.headers)
    _ = response.notModified(head, requestedAt: now, receivedAt: now, rules: rules)
  }
}
