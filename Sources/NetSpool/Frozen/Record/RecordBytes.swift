/// Texts of records: each four bytes of length, little-endian, then its bytes.
extension [UInt8] {
  mutating func append(text: String) { append(text: text.utf8.span) }

  mutating func append(text: [UInt8]) { append(text: text.span) }

  private mutating func append(text: Span<UInt8>) {
    append(integer: UInt32(text.count))
    append(text)
  }
}

/// Takes texts out again, one behind the other; nil as soon as one would reach past the end.
struct TextReader: ~Escapable {
  private let bytes: RawSpan
  private var position: Int

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, from position: Int) {
    self.bytes = bytes
    self.position = position
  }

  var isAtEnd: Bool { position == bytes.byteCount }

  @_lifetime(self: copy self)
  mutating func next() -> [UInt8]? {
    guard position + 4 <= bytes.byteCount else { return nil }
    let end = position + 4 + Int(bytes.integer(at: position, as: UInt32.self))
    guard end <= bytes.byteCount else { return nil }
    defer { position = end }
    return [UInt8](bytes.extracting(position + 4..<end))
  }

  @_lifetime(self: copy self)
  mutating func nextString() -> String? { next().map { String(decoding: $0, as: UTF8.self) } }
}
