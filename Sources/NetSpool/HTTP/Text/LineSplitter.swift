/// Lines out of pieces that end anywhere. Pure.
struct LineSplitter {
  static let lineBytesMax = 1 << 20

  /// A CR ends a line by itself, too (WHATWG HTML section 9.2.6).
  let endsAtCR: Bool
  private var bytes: [UInt8] = []
  /// Where the next line begins, and how far was looked.
  private var start = 0
  private var seen = 0
  /// The last line ended with a CR, which an LF may belong to.
  private var hasJustEnded = false

  init(endsAtCR: Bool) { self.endsAtCR = endsAtCR }

  mutating func append(_ piece: [UInt8]) {
    if start == bytes.count {
      bytes = piece
      (start, seen) = (0, 0)
    } else {
      bytes.removeFirst(start)
      seen -= start
      start = 0
      bytes += piece
    }
  }

  /// The next whole line; nil when its end has not come.
  mutating func next() throws(NetworkError) -> String? {
    if hasJustEnded, start < bytes.count {
      hasJustEnded = false
      if bytes[start] == UInt8(ascii: "\n") { start += 1 }
      seen = start
    }
    while seen < bytes.count {
      let byte = bytes[seen]
      let isCR = byte == UInt8(ascii: "\r")
      if byte == UInt8(ascii: "\n") || isCR && endsAtCR {
        hasJustEnded = isCR
        return try line(upTo: seen)
      }
      seen += 1
    }
    // One more may be the CR of its end.
    if seen - start > Self.lineBytesMax + 1 { throw Self.tooLong }
    return nil
  }

  /// What stands behind the last end; nil when that is nothing.
  mutating func last() throws(NetworkError) -> String? {
    start < bytes.count ? try line(upTo: bytes.count) : nil
  }

  private mutating func line(upTo end: Int) throws(NetworkError) -> String {
    let hasCR = !endsAtCR && end > start && bytes[end - 1] == UInt8(ascii: "\r")
    let line = start..<(hasCR ? end - 1 : end)
    if line.count > Self.lineBytesMax { throw Self.tooLong }
    let text = String(decoding: bytes[line], as: UTF8.self)
    start = min(end + 1, bytes.count)
    seen = start
    return text
  }

  private static var tooLong: NetworkError {
    NetworkError(.bodyTooLarge, reason: "a line of more than \(lineBytesMax) bytes", sendState: .answered)
  }
}
