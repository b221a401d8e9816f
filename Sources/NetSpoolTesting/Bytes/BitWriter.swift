/// Bits as deflate packs them (RFC 1951 section 3.1.1): numbers least significant bit first, Huffman codes
/// most significant bit first.
struct BitWriter {
  private(set) var bytes: [UInt8] = []
  private var pending: UInt32 = 0
  private var pendingCount: UInt32 = 0

  /// At most 16 bits.
  mutating func number(_ value: UInt32, bits: UInt32) {
    pending |= value << pendingCount
    pendingCount += bits
    while pendingCount >= 8 {
      bytes.append(UInt8(truncatingIfNeeded: pending))
      pending >>= 8
      pendingCount -= 8
    }
  }

  mutating func code(_ bits: String) {
    for bit in bits.utf8 { number(bit == UInt8(ascii: "1") ? 1 : 0, bits: 1) }
  }

  mutating func alignToByte() {
    if pendingCount > 0 { number(0, bits: 8 - pendingCount) }
  }

  mutating func raw(_ more: some Sequence<UInt8>) {
    alignToByte()
    bytes.append(contentsOf: more)
  }

  /// Whole zero bytes, wherever in a byte we stand: eight zero bits each.
  mutating func zeroBytes(_ count: Int) {
    for _ in 0..<count { number(0, bits: 8) }
  }

  /// The full bytes so far; the bits of an unfinished byte stay and go in front of what comes next.
  mutating func take() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }
}

extension [UInt8] {
  mutating func appendLittleEndian(_ value: UInt32) {
    for shift in [0, 8, 16, 24] as [UInt32] { append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  mutating func appendBigEndian(_ value: UInt32) {
    for shift in [24, 16, 8, 0] as [UInt32] { append(UInt8(truncatingIfNeeded: value >> shift)) }
  }
}
