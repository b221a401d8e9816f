/// Integers in stored bytes: little-endian, at any offset, checked against the end.
extension Array where Element == UInt8 {
  mutating func append(littleEndian number: some FixedWidthInteger) {
    var rest = number
    for _ in 0..<(number.bitWidth / 8) {
      append(UInt8(truncatingIfNeeded: rest))
      rest = rest >> 8
    }
  }

  func littleEndian(at offset: Int) -> UInt64 { rawBytes.number(at: offset) }
}

extension RawSpan {
  @inline(__always)
  func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

  /// Traps past the end, as every access of a span.
  @inline(__always)
  func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number {
    Number(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self))
  }
}
