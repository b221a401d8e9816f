/// `%41` to `A` (RFC 3986 section 2.1), once; a `%` without two hex digits stays.
enum PercentDecoding {
  static func decode(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var rest = bytes
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let decoded = pair(rest) {
        rest = rest.dropFirst(2)
        result.append(decoded)
      } else {
        result.append(byte)
      }
    }
    return result
  }

  private static func pair(_ bytes: ArraySlice<UInt8>) -> UInt8? {
    guard bytes.count >= 2, let high = nibble(bytes[bytes.startIndex]),
      let low = nibble(bytes[bytes.startIndex + 1])
    else { return nil }
    return high << 4 | low
  }

  private static func nibble(_ byte: UInt8) -> UInt8? {
    switch byte.asciiLowercased {
    case 0x30...0x39: byte - 0x30
    case 0x61...0x66: byte.asciiLowercased - 0x57
    default: nil
    }
  }
}
