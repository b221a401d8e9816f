/// Byte classes of RFC 9110 and RFC 3986.
extension UInt8 {
  @inline(__always)
  var asciiLowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

  var isASCIIDigit: Bool { self &- 0x30 < 10 }
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
