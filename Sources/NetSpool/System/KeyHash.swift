/// A quick 64-bit hash for tables inside one process; seeded, so that nobody outside can choose collisions.
struct KeyHash {
  private static let processSeed = UInt64.random(in: 1...UInt64.max)
  private(set) var value: UInt64

  init(seed: UInt64) { value = Self.processSeed ^ (seed &* 0x9E37_79B9_7F4A_7C15) }

  mutating func add(_ bytes: Span<UInt8>) { add(unsafe bytes.bytes) }

  mutating func add(_ bytes: RawSpan) {
    var offset = 0
    while offset + 8 <= bytes.byteCount {
      mix(unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset += 8
    }
    var rest = UInt64(bytes.byteCount) << 56
    while offset < bytes.byteCount {
      rest = (rest << 8) ^ UInt64(unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
      offset += 1
    }
    mix(rest)
  }

  mutating func add(_ word: UInt64) { mix(word) }

  private mutating func mix(_ word: UInt64) {
    let product = (value ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    value = product.high ^ product.low
  }
}
