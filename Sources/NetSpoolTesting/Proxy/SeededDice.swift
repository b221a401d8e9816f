/// SplitMix64: the same throws for the same seed, everywhere.
struct SeededDice: RandomNumberGenerator {
  private var state: UInt64

  /// Independent throws for each number under one seed.
  init(seed: UInt64, stream: UInt64) {
    state = seed
    state = next() ^ (stream &* 0x9E37_79B9_7F4A_7C15)
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// True so many times in a hundred.
  mutating func chance(_ percent: Int) -> Bool { Int(next() % 100) < percent }

  /// Somewhere from `middle - spread` to `middle + spread`, to the microsecond, and never below zero.
  mutating func around(_ middle: Duration, _ spread: Duration) -> Duration {
    guard spread > .zero else { return middle }
    let reach = Int64(spread / .microseconds(1))
    return max(.zero, middle + .microseconds(Int64.random(in: -reach...reach, using: &self)))
  }
}
