/// The same numbers for the same seed, everywhere, so a failing seed is the whole bug report. (Steele, Lea, Flood:
/// "Fast splittable pseudorandom number generators", 2014.)
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// Makes one of many generators under one seed.
  init(seed: UInt64, stream: UInt64) {
    self.init(seed: seed)
    self.init(seed: next() ^ stream &* 0x9E37_79B9_7F4A_7C15)
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// From 0 to one below.
  mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

  /// Evenly distributed in 0..<1.
  mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// True so many times in a hundred.
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// Bytes damaged one to four times: overwritten, left out, doubled, or set to the extremes of a number. A third of them
  /// among the first, where a picture's sizes are.
  mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...below(4) where bytes.count > 8 {
      let start = chance(33) ? below(min(64, bytes.count)) : below(bytes.count)
      let range = start..<min(start + 1 + below(8), bytes.count)
      switch below(4) {
      case 0: for index in range { bytes[index] = UInt8(truncatingIfNeeded: next()) }
      case 1: bytes.removeSubrange(range)
      case 2: bytes.insert(contentsOf: bytes[range], at: start)
      default: for index in range { bytes[index] = chance(50) ? 0xFF : 0 }
      }
    }
    return bytes
  }
}
