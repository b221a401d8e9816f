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
}
