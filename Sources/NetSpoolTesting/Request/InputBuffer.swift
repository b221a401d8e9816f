import Glibc

/// Bytes that came in and were not read yet.
struct InputBuffer {
  private(set) var storage: [UInt8] = []
  /// The place where the unread bytes begin.
  private(set) var start = 0
  /// Up to where the search for the end of a head has come: a head that drips in is not scanned again and again.
  private var scanned = 0
  private var lineStart = 0
  private var lineCount = 0

  var count: Int { storage.count - start }
  var isEmpty: Bool { start == storage.count }
  var unread: ArraySlice<UInt8> { storage[start...] }

  mutating func append(_ bytes: ArraySlice<UInt8>) { storage.append(contentsOf: bytes) }

  mutating func consume(_ count: Int) {
    start += count
    if isEmpty {
      storage.removeAll(keepingCapacity: true)
      start = 0
    } else if start > 65_536, start > storage.count / 2 {
      // One that is never empty would keep all that ever passed through it.
      storage.removeFirst(start)
      start = 0
    }
    (scanned, lineStart, lineCount) = (start, start, 0)
  }

  /// Takes a whole head, blank line included; nil while there is none. Lines must end in CR LF.
  mutating func takeHead(limits: OriginLimits) throws(RequestFault) -> [UInt8]? {
    skipEmptyLine()
    while let lineFeed = index(of: 0x0a, from: scanned) {
      scanned = lineFeed + 1
      guard lineFeed > lineStart, storage[lineFeed - 1] == 0x0d else {
        throw RequestFault("a line of the head ends in a bare LF")
      }
      let isBlank = lineFeed - 1 == lineStart
      lineStart = lineFeed + 1
      lineCount += 1
      if isBlank { return try takeHead(end: lineStart, limits: limits) }
      guard lineCount - 1 <= limits.headerFieldsMax else {
        throw RequestFault("more than \(limits.headerFieldsMax) header fields", status: 431)
      }
    }
    scanned = storage.count
    try check(count, limits)
    return nil
  }

  private mutating func takeHead(end: Int, limits: OriginLimits) throws(RequestFault) -> [UInt8] {
    try check(end - start, limits)
    let head = Array(storage[start..<end])
    consume(end - start)
    return head
  }

  private func check(_ headCount: Int, _ limits: OriginLimits) throws(RequestFault) {
    guard headCount <= limits.headBytesMax else {
      throw RequestFault("a head of more than \(limits.headBytesMax) bytes", status: 431)
    }
  }

  /// An empty line before a request is allowed (RFC 9112 section 2.2).
  private mutating func skipEmptyLine() {
    guard scanned == start, count >= 2, storage[start] == 0x0d, storage[start + 1] == 0x0a else { return }
    consume(2)
  }

  private func index(of byte: UInt8, from: Int) -> Int? {
    unsafe storage.withUnsafeBytes { raw in
      guard let base = raw.baseAddress, from < raw.count,
        let hit = unsafe memchr(base + from, Int32(byte), raw.count - from)
      else { return nil }
      return unsafe UnsafeRawPointer(hit) - base
    }
  }
}
