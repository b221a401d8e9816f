/// Borrowed bytes of a file, read with every offset checked: what lies outside is nil, never a trap.
///
/// Offsets come from the file and may be anything. Widths of numbers are in bytes, 0 to 8; a number of no
/// bytes is 0.
struct ImageBytes: ~Escapable {
  private let bytes: Span<UInt8>

  @_lifetime(copy raw)
  init(_ raw: RawSpan) { bytes = Span<UInt8>(_bytes: raw) }

  var count: Int { bytes.count }

  func byte(_ offset: Int) -> UInt8? {
    bytes.indices.contains(offset) ? bytes[offset] : nil
  }

  /// A number with its high byte first; nil also when it is over `Int.max`.
  func big(_ offset: Int, width: Int) -> Int? {
    guard has(width, at: offset) else { return nil }
    var value: UInt64 = 0
    for index in offset..<offset + width { value = value << 8 | UInt64(bytes[index]) }
    return Int(exactly: value)
  }

  /// A number with its low byte first; nil also when it is over `Int.max`.
  func little(_ offset: Int, width: Int) -> Int? {
    guard has(width, at: offset) else { return nil }
    var value: UInt64 = 0
    for index in (offset..<offset + width).reversed() { value = value << 8 | UInt64(bytes[index]) }
    return Int(exactly: value)
  }

  /// A little-endian number in two's complement.
  func littleSigned32(_ offset: Int) -> Int? {
    little(offset, width: 4).map { Int(Int32(truncatingIfNeeded: $0)) }
  }

  func code(_ offset: Int) -> FourCC? {
    big(offset, width: 4).map { FourCC(rawValue: UInt32(truncatingIfNeeded: $0)) }
  }

  /// Where the byte stands next, at `start` or behind it.
  func firstIndex(of byte: UInt8, from start: Int) -> Int? {
    var index = start
    while index < bytes.count {
      if bytes[index] == byte { return index }
      index += 1
    }
    return nil
  }

  private func has(_ width: Int, at offset: Int) -> Bool {
    0...8 ~= width && offset >= 0 && offset <= bytes.count - width
  }
}
