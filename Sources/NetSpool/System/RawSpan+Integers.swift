/// Integers of records on a disk: little-endian, at any address, bounds-checked.
extension RawSpan {
  /// Traps when the integer would reach past the end: check the length of what is hostile first.
  @inline(__always)
  func integer<Number: FixedWidthInteger & BitwiseCopyable>(
    at offset: Int, as type: Number.Type = Number.self
  ) -> Number {
    precondition(
      offset >= 0 && offset <= byteCount - MemoryLayout<Number>.size,
      "NetSpool: a record was read past its end")
    return Number(littleEndian: unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: type))
  }
}

extension Array where Element == UInt8 {
  /// Appends an integer, little-endian.
  mutating func append(integer number: some FixedWidthInteger & BitwiseCopyable) {
    unsafe Swift.withUnsafeBytes(of: number.littleEndian) { bytes in unsafe append(contentsOf: bytes) }
  }

  /// Puts another integer in place of one, little-endian. Traps outside.
  mutating func replace(integerAt offset: Int, with number: UInt64) {
    for index in 0..<8 { self[offset + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
  }
}

extension RawSpan {
  /// Traps outside.
  @inline(__always)
  func byte(at offset: Int) -> UInt8 { integer(at: offset) }
}

extension RawSpan {
  /// The same bytes as elements.
  var octets: Span<UInt8> {
    @_lifetime(copy self)
    get { Span(_bytes: self) }
  }
}
