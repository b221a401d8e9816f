/// How many exchanges may be under way for want of descriptors: a connection each, and a file with its folder where the
/// body goes to one. Beyond it requests wait, as they do for the width of their origin.
///
/// Others open descriptors as well, so what is free is counted again and again, and some are left for names and stores.
struct DescriptorWidth {
  /// For an exchange: its connection, its file, and the folder of that.
  static let perExchange = 3
  /// Left for the rest of the process; an eighth of a low limit.
  static let sparesMax = 32
  /// Of the width, for engines that have nothing under way: a quarter, and this at most.
  private static let reserveMax = 8
  private static let agesAfter: Microseconds = 1_000_000
  /// Counted again no sooner than after this, when a request waits.
  private static let looksAgainAfter: Microseconds = 50_000

  /// At most so many under way; no limit before the first count.
  private(set) var width = Int.max
  /// Where so many are under way, an engine that has one of them begins no other: the rest is for those that have none,
  /// and half of what is left for the rest of the process, should that have taken more than was foreseen.
  private(set) var crowd = Int.max
  private var countedAt: Microseconds?

  /// True if it is time to count.
  func wantsCount(running: Int, now: Microseconds) -> Bool {
    guard let countedAt else { return true }
    return now - countedAt >= (running < crowd ? Self.agesAfter : Self.looksAgainAfter)
  }

  /// - Parameters:
  ///   - free: descriptors that the process may still open.
  ///   - limit: descriptors that it may have.
  ///   - running: exchanges under way.
  ///   - unopened: descriptors that those have yet to open.
  mutating func count(free: Int, limit: Int, running: Int, unopened: Int, now: Microseconds) {
    countedAt = now
    guard free < .max else { return (width, crowd) = (.max, .max) }
    let (unclaimed, spares) = (free - unopened, min(Self.sparesMax, limit / 8))
    set(
      running + Self.exchanges(unclaimed - spares / 2), forAll: running + Self.exchanges(unclaimed - spares))
  }

  /// An exchange could not open its own: no more than are under way without it, until there is room.
  mutating func didFail(running: Int, now: Microseconds) {
    countedAt = now
    set(running, forAll: running)
  }

  private mutating func set(_ width: Int, forAll: Int) {
    self.width = max(1, width)
    let forAll = max(1, forAll)
    crowd = forAll - min(Self.reserveMax, forAll / 4)
  }

  /// How many can begin with so many descriptors; where some are owed, one should end.
  private static func exchanges(_ descriptors: Int) -> Int {
    descriptors >= 0 ? descriptors / perExchange : -1
  }
}
