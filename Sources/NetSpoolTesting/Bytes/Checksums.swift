/// FNV-1a with 64 bits: the digest by which recorded bodies are compared without being kept.
public struct FNV1a: Sendable, Hashable {
  /// The hash of everything fed so far.
  public private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  /// The hash of no bytes.
  public init() {}

  /// Adds bytes.
  public mutating func update(_ bytes: some Sequence<UInt8>) {
    var hash = value
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    value = hash
  }

  /// The hash of these bytes.
  public static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
    var hash = FNV1a()
    hash.update(bytes)
    return hash.value
  }
}

/// CRC-32 as gzip (RFC 1952) and PNG use it.
struct CRC32 {
  private static let polynomial: UInt32 = 0xedb8_8320
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 == 1 ? (crc >> 1) ^ polynomial : crc >> 1 }
  }

  private var register: UInt32 = 0xffff_ffff
  var value: UInt32 { ~register }

  mutating func update(_ bytes: some Sequence<UInt8>) {
    let table = Self.table
    var crc = register
    for byte in bytes { crc = (crc >> 8) ^ table[Int((crc ^ UInt32(byte)) & 0xff)] }
    register = crc
  }

  /// Adds zero bytes in O(log count): they multiply the register by x^(8·count) modulo the polynomial.
  /// So a bomb of 10 GiB carries a right checksum although no machine ever holds it.
  mutating func updateZeros(_ count: Int) {
    var power: UInt32 = 0x0080_0000  // x^8, bits reflected
    var left = count
    while left > 0 {
      if left & 1 == 1 { register = Self.product(register, power) }
      power = Self.product(power, power)
      left >>= 1
    }
  }

  /// The product of two reflected polynomials modulo the CRC's.
  private static func product(_ first: UInt32, _ second: UInt32) -> UInt32 {
    var sum: UInt32 = 0
    var term = second
    for bit in stride(from: 31, through: 0, by: -1) {
      if (first >> UInt32(bit)) & 1 == 1 { sum ^= term }
      term = term & 1 == 1 ? (term >> 1) ^ polynomial : term >> 1
    }
    return sum
  }

  static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var crc = CRC32()
    crc.update(bytes)
    return crc.value
  }
}

/// Adler-32 (RFC 1950): the checksum of the zlib stream inside a PNG.
func adler32(_ bytes: [UInt8]) -> UInt32 {
  var low: UInt32 = 1
  var high: UInt32 = 0
  // 5,552 is the longest run whose sums fit into 32 bits.
  for start in stride(from: 0, to: bytes.count, by: 5_552) {
    for byte in bytes[start..<min(start + 5_552, bytes.count)] {
      low &+= UInt32(byte)
      high &+= low
    }
    low %= 65_521
    high %= 65_521
  }
  return high << 16 | low
}
