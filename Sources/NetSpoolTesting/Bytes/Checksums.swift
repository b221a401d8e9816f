internal import CNetSpoolZlib

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

/// The checksums of gzip (RFC 1952), zlib (RFC 1950) and PNG.
enum Checksum {
  static func crc32(_ bytes: [UInt8]) -> UInt32 {
    UInt32(truncatingIfNeeded: unsafe crc32_z(0, bytes, bytes.count))
  }

  /// The CRC-32 of zero bytes in O(log count), of doubled runs of them: so a bomb of 10 GiB carries a right checksum
  /// although no machine ever holds it.
  static func crc32(ofZeros count: Int) -> UInt32 {
    var (crc, run, length, left) = (UInt(0), UInt(crc32([0])), 1, count)
    while left > 0 {
      if left & 1 == 1 { crc = crc32_combine(crc, run, length) }
      run = crc32_combine(run, run, length)
      (length, left) = (length << 1, left >> 1)
    }
    return UInt32(truncatingIfNeeded: crc)
  }

  static func adler32(_ bytes: [UInt8]) -> UInt32 {
    UInt32(truncatingIfNeeded: unsafe adler32_z(1, bytes, bytes.count))
  }
}
