/// Starts spread evenly in time, for an origin that allows so many requests in a second: there, a narrower width
/// only makes each answer free the next refusal.
///
/// The interval is found between the longest that was refused and the shortest that was not, by halving the
/// ratio. Once it is known to a sixteenth, a shorter one is tried rarely, and more rarely each time it fails.
struct StartPace: Sendable {
  /// Microseconds between two starts.
  private(set) var interval: Int64
  /// As it was when the pace began.
  private let first: Int64
  /// Nothing starts before.
  private(set) var nextStart: Int64

  /// The longest interval that was refused, and the shortest that was good.
  private var refused: Int64
  private var good: Int64?
  /// Good answers at this interval.
  private var streak = 0
  private var patience = Self.patienceMin
  private var isTrying = false
  /// What a good answer took when the interval was chosen (`GivenBetweenRefusals.least`).
  private var given: Int64
  private var changedAt: Int64
  /// No shorter interval is tried before, when the last refusal cost a hold.
  private var nextTry = TryPause()
  /// A try has succeeded, and how quick it may be is found out anew.
  private var isRising = false
  /// Starts in a row that came late because the width was full.
  private var unneeded = 0

  /// Answers that make an interval good.
  private static var streakMin: Int { 8 }
  private static var patienceMin: Int { 256 }
  private static var patienceMax: Int { 16_384 }
  /// Timers count milliseconds: faster than that, nothing can be spread.
  static var intervalMin: Int64 { 1_000 }
  private static var intervalMax: Int64 { 60_000_000 }

  private static var unneededMax: Int { 64 }

  /// - Parameters:
  ///   - interval: of the good answers so far.
  ///   - isNear: that is as many as the origin takes, not only as many as it was asked for.
  ///   - given: what the origin has given from refusal to refusal.
  init(interval: Int64, isNear: Bool, given: GivenBetweenRefusals, now: Int64) {
    self.interval = min(max(interval, Self.intervalMin), Self.intervalMax)
    self.given = given.least
    first = self.interval
    refused = isNear ? self.interval * 7 / 8 : 0
    nextStart = now + self.interval
    changedAt = now
  }

  /// Clearly less is asked than what the origin took when the pace began, and no more than what it has given since.
  var isEased: Bool { interval >= given && interval * 5 >= first * 6 }

  /// Starts that are spread have proven to be far more numerous than those before, and no width holds them back.
  var hasGained: Bool { unneeded == 0 && good.map { $0 * 4 <= first * 3 } ?? false }

  mutating func didStart(isFull: Bool, _ now: Int64) {
    // One that came late by itself does not show that the origin takes them this quickly.
    let isLate = now - nextStart > max(interval / 2, 3_000)
    if isLate { streak = 0 }
    unneeded = isLate && isFull ? unneeded + 1 : 0
    nextStart = now + interval
  }

  /// False when it is needed no more: the width holds back more, or the origin takes more than can be spread.
  /// - Parameter isEased: the origin has given far more before, so the next try is sooner, and bolder.
  mutating func didAnswer(since: Int64, isEased: Bool, _ now: Int64) -> Bool {
    if unneeded >= Self.unneededMax { return false }
    guard since >= changedAt else { return true }
    streak += 1
    if isTrying, streak >= Self.streakMin * 2 { didGetQuicker() }
    if refused * 17 / 16 < interval {
      guard streak >= Self.streakMin else { return true }
      good = interval
      let shortest = Double(max(refused, interval / 2))
      change(to: Int64((shortest * Double(interval)).squareRoot()), now)
    } else if streak >= (isEased ? patience / 8 : patience), nextTry.isOver(now) {
      isTrying = true
      good = interval
      change(to: isEased ? interval / 2 : interval * 15 / 16, now)
    }
    return interval >= Self.intervalMin
  }

  /// - Parameters:
  ///   - longest: an interval that no refusal lengthens any more.
  ///   - given: what the origin has given from refusal to refusal: it is not asked more quickly.
  mutating func didRefuse(since: Int64, longest: Int64, given: GivenBetweenRefusals, _ now: Int64) {
    guard since >= changedAt else { return }
    if isTrying || isRising {
      patience = min(patience * 2, Self.patienceMax)
      nextTry.didFail()
    }
    (isTrying, isRising) = (false, false)
    refused = interval
    if let good, good > interval {
      change(to: good, now)
    } else {
      good = nil
      let longer = max(interval, min(interval * 5 / 4 + 1, longest), given.shortest)
      change(to: min(longer, Self.intervalMax), now)
    }
    self.given = given.least
    // One that came much sooner would be refused for what was asked before.
    nextStart = max(nextStart, now + interval / 2)
  }

  mutating func didHold(_ microseconds: Int64, _ now: Int64) {
    nextStart = max(nextStart, now + microseconds)
    nextTry.didHold(microseconds, now)
  }

  private mutating func didGetQuicker() {
    (isTrying, isRising) = (false, true)
    nextTry = TryPause()
    refused = interval * 3 / 4
  }

  private mutating func change(to interval: Int64, _ now: Int64) {
    self.interval = interval
    streak = 0
    changedAt = now
  }
}
