/// Lets a lost link count at once, and one that came back only when it has held for a while: longer each time, so
/// that a link that flaps many times a second is one change and not many.
///
/// Each loss doubles the while, from 1 second to at most 32; a minute without one starts over.
/// Times are microseconds of a clock that does not go back.
struct LinkDamper: Sendable {
  static let holdMin: Int64 = 1_000_000
  static let holdMax: Int64 = 32_000_000
  static let calm: Int64 = 60_000_000

  /// What counts.
  private(set) var settled: LinkState?
  /// When to look again; nil when nothing is held back.
  private(set) var deadline: Int64?
  private var latest: LinkState?
  private var hold = holdMin
  private var lastLoss: Int64?

  init() {}

  /// The link is like this now. The first state counts at once.
  mutating func observe(_ state: LinkState, now: Int64) {
    let wasRouted = latest?.isRouted ?? state.isRouted
    latest = state
    if wasRouted, !state.isRouted { noteLoss(now) }
    if settled == nil || !state.isRouted || settled?.isRouted == true {
      settled = state
      deadline = nil
    } else if !wasRouted || deadline == nil {
      deadline = now + hold
    }
    check(now: now)
  }

  private mutating func noteLoss(_ now: Int64) {
    let isCalm = lastLoss.map { now - $0 >= Self.calm } ?? true
    hold = isCalm ? Self.holdMin : min(Self.holdMax, hold * 2)
    lastLoss = now
  }

  /// Time has passed.
  mutating func check(now: Int64) {
    guard let until = deadline, now >= until else { return }
    settled = latest
    deadline = nil
  }
}
