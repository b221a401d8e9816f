/// A quick 64-bit checksum of bytes that go to a disk: the same on every machine, and no secret.
///
/// It finds damage by accident, not by design. Four lanes of multiplications that do not wait for each other,
/// as in wyhash: about 20 bytes per nanosecond in a release build.
enum Checksum {
  static func of(_ bytes: RawSpan, seed: UInt64 = 0) -> UInt64 {
    unsafe bytes.withUnsafeBytes { buffer in
      var reader = unsafe LaneReader(buffer)
      let lanes = reader.takeBlocks(seed: seed)
      let rest = reader.takeRest(seed: lanes)
      return fold(rest ^ UInt64(buffer.count), secret.0 ^ seed)
    }
  }

  fileprivate static let secret: (UInt64, UInt64, UInt64, UInt64) = (
    0xA076_1D64_78BD_642F, 0xE703_7ED1_A0B4_28DB, 0x8EBC_6AF0_9C88_C6E3, 0x5899_65CC_7537_4CC3
  )

  @inline(__always)
  fileprivate static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }
}

/// Walks a buffer in words; little-endian on every machine.
@safe private struct LaneReader {
  private let base: UnsafeRawPointer?
  private var offset = 0
  private let count: Int

  init(_ buffer: UnsafeRawBufferPointer) {
    unsafe base = buffer.baseAddress
    count = buffer.count
  }

  @inline(__always)
  private func word(_ index: Int) -> UInt64 {
    UInt64(littleEndian: unsafe base!.loadUnaligned(fromByteOffset: offset + index, as: UInt64.self))
  }

  /// All whole blocks of 64 bytes.
  mutating func takeBlocks(seed: UInt64) -> UInt64 {
    let secret = Checksum.secret
    var (a, b, c, d) = (seed ^ secret.0, seed ^ secret.1, seed ^ secret.2, seed ^ secret.3)
    while count - offset >= 64 {
      a = Checksum.fold(word(0) ^ secret.1, word(8) ^ a)
      b = Checksum.fold(word(16) ^ secret.2, word(24) ^ b)
      c = Checksum.fold(word(32) ^ secret.3, word(40) ^ c)
      d = Checksum.fold(word(48) ^ secret.0, word(56) ^ d)
      offset += 64
    }
    return a ^ (b &* 3) ^ (c &* 5) ^ (d &* 7)
  }

  /// Up to 63 bytes.
  mutating func takeRest(seed: UInt64) -> UInt64 {
    let secret = Checksum.secret
    var value = seed
    while count - offset >= 16 {
      value = Checksum.fold(word(0) ^ secret.1, word(8) ^ value)
      offset += 16
    }
    guard offset < count else { return value }
    // The last 16 bytes, some of them again; fewer than 16 in all are taken one by one.
    if count >= 16 {
      offset = count - 16
      return Checksum.fold(word(0) ^ secret.2, word(8) ^ value)
    }
    var (low, high): (UInt64, UInt64) = (0, 0)
    for index in 0..<count {
      let byte = UInt64(unsafe base!.load(fromByteOffset: index, as: UInt8.self))
      if index < 8 { low |= byte << (8 * index) } else { high |= byte << (8 * (index - 8)) }
    }
    return Checksum.fold(low ^ secret.2, high ^ value)
  }
}
