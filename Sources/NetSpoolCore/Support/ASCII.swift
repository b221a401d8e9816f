/// Byte classes of RFC 9110 and RFC 3986.
extension UInt8 {
  @inline(__always)
  package var asciiLowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

  package var isASCIIDigit: Bool { self &- 0x30 < 10 }
  package var isASCIILetter: Bool { (self | 0x20) &- 0x61 < 26 }

  /// `tchar` (RFC 9110 section 5.6.2).
  package var isTokenByte: Bool {
    switch self {
    case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
      UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
      true
    default: isASCIIDigit || isASCIILetter
    }
  }

  /// `unreserved` (RFC 3986 section 2.3): never percent-encoded.
  package var isUnreserved: Bool {
    isASCIIDigit || isASCIILetter || self == 0x2D || self == 0x2E || self == 0x5F || self == 0x7E
  }

  /// A control byte: 0x00-0x1F and 0x7F.
  package var isControl: Bool { self < 0x20 || self == 0x7F }
}
