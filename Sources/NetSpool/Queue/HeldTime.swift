/// When an origin was held because it had asked for quiet. Times are microseconds of any clock that does not go back.
struct HeldTime: Sendable {
  /// The last ones; older are forgotten.
  private var holds: [(begin: Int64, end: Int64)] = []
  private var begun: Int64?

  private static var holdsMax: Int { 64 }

  mutating func begin(_ now: Int64) { if begun == nil { begun = now } }

  mutating func end(_ now: Int64) {
    guard let begin = begun else { return }
    begun = nil
    if holds.count == Self.holdsMax { holds.removeFirst() }
    holds.append((begin, now))
  }

  /// How much of the time since then it was held.
  func since(_ time: Int64, now: Int64) -> Int64 {
    let current = begun.map { max(0, now - max($0, time)) } ?? 0
    return holds.reduce(current) { $0 + max(0, $1.end - max($1.begin, time)) }
  }
}
