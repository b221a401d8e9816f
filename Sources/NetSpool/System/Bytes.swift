/// Moving borrowed bytes in and out of arrays: the unsafe step, once.
extension Array where Element == UInt8 {
  mutating func append(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { buffer in unsafe append(contentsOf: buffer) }
  }

  mutating func append(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { buffer in unsafe append(contentsOf: buffer) }
  }

  init(_ bytes: RawSpan) {
    self = []
    append(bytes)
  }

  /// Makes room for a body that an origin has announced, where so much is allowed. What goes beyond 64 MiB makes its room as
  /// it comes: memory that there is not ends the process, and an announcement costs the origin nothing.
  mutating func reserve(announced: Int64?, atMost: Int = .max) {
    reserveCapacity(Swift.max(0, Swift.min(Int(clamping: announced ?? 0), atMost, 64 << 20)))
  }

  /// A view of the elements, valid as long as the array is borrowed.
  var rawBytes: RawSpan {
    @_lifetime(borrow self)
    get { unsafe span.bytes }
  }

  /// Appends an integer, little-endian.
  mutating func append(integer number: some FixedWidthInteger & BitwiseCopyable) {
    unsafe Swift.withUnsafeBytes(of: number.littleEndian) { bytes in unsafe append(contentsOf: bytes) }
  }

  /// Appends many of 64 bits at once, each little-endian.
  mutating func append<let count: Int>(words: InlineArray<count, UInt64>) {
    var words = words
    for index in words.indices { words[index] = words[index].littleEndian }
    unsafe append(words.span.bytes)
  }

  /// Puts another integer in place of one, little-endian. Traps outside.
  mutating func replace(integerAt offset: Int, with number: UInt64) {
    for index in 0..<8 { self[offset + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
  }
}

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

  /// Traps outside.
  @inline(__always)
  func byte(at offset: Int) -> UInt8 { integer(at: offset) }

  /// The same bytes as elements.
  var octets: Span<UInt8> {
    @_lifetime(copy self)
    get { Span(_bytes: self) }
  }
}

extension String {
  /// The text in lower case; nil unless it is ASCII. For words that a stranger chose: `==`, `hash` and `Character` put
  /// runs of combining marks in order, which takes time that grows with the square of their number.
  var asciiLowercased: String? { utf8.allSatisfy { $0 < 0x80 } ? lowercased() : nil }
}

/// Byte classes of RFC 9110 and RFC 3986.
extension UInt8 {
  @inline(__always)
  var asciiLowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

  /// SP or HTAB.
  @inline(__always)
  var isBlank: Bool { self == 0x20 || self == 0x09 }

  var isASCIIDigit: Bool { self &- 0x30 < 10 }
  var isASCIIUppercase: Bool { self &- 0x41 < 26 }

  var isASCIILetter: Bool { (self | 0x20) &- 0x61 < 26 }

  /// `tchar` (RFC 9110 section 5.6.2): digits, letters and ``!#$%&'*+-.^_`|~``, as a map of 128 bits, because
  /// every byte of every field name is asked.
  @inline(__always)
  var isTokenByte: Bool {
    let map: UInt64 = self < 64 ? 0x03FF_6CFA_0000_0000 : self < 128 ? 0x57FF_FFFF_C7FF_FFFE : 0
    return (map >> UInt64(self & 63)) & 1 != 0
  }

  /// `unreserved` (RFC 3986 section 2.3): never percent-encoded.
  var isUnreserved: Bool {
    isASCIIDigit || isASCIILetter || self == 0x2D || self == 0x2E || self == 0x5F || self == 0x7E
  }

  /// A control byte: 0x00-0x1F and 0x7F.
  var isControl: Bool { self < 0x20 || self == 0x7F }
}
