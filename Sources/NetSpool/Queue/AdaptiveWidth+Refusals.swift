/// What a width learns from 429 and 503: where the origin's limit lies, or that they come by chance.
extension AdaptiveWidth {
  /// So many refusals that the ceiling does not explain are about requests in a time, or come by chance.
  private static var unexplainedMax: Int { 2 }
  /// Retry-After beyond an hour is cut to it: a wrong date must not close an origin for ever.
  private static var holdSecondsMax: Double { 3600 }

  mutating func didRefuse(_ retryAfter: Double?, _ since: Int64, _ now: Int64) {
    didEnd()
    given.didRefuse(isHeld: retryAfter != nil)
    if trial.didRefuse(at: width, load(since, now)) { forgetRefusals(now) }
    if trial.isByChance {
      // It comes whatever the width.
    } else if since < narrowedAt {
      followBurst()
    } else if let pace, !round.isSaturated || pace.hasGained {
      // There was room for more: only the pace was too quick.
      didRefusePace(since, now)
    } else {
      lower(since, now)
    }
    hold(retryAfter, now)
  }

  /// Of those that began together, the ones that still run are what fits.
  private mutating func followBurst() {
    guard running < ceiling.width else { return }
    let fitting = max(narrowestOfBurst, running)
    ceiling.lower(to: fitting)
    resize(to: min(width, fitting))
  }

  func load(_ since: Int64, _ now: Int64) -> RefusalTrial.Load {
    let isEased = goodput.isEased(by: pace?.interval, now) != false && pace?.isEased ?? (width == 1)
    return RefusalTrial.Load(isEased: isEased && since >= narrowedAt, isPaced: pace != nil, running: running)
  }

  /// As wide as before they began, and on from there.
  private mutating func forgetRefusals(_ now: Int64) {
    dropPace()
    ceiling = WidthCeiling()
    refusalsAtOne = 0
    holdUntil = min(holdUntil, now)
    isExploring = true
    resize(to: max(width, trial.widthBefore ?? width))
  }

  private mutating func didRefusePace(_ since: Int64, _ now: Int64) {
    pace?.didRefuse(since: since, longest: goodput.longestInterval, given: given, now)
    holdUntil = max(holdUntil, pace?.nextStart ?? holdUntil)
  }

  private mutating func lower(_ since: Int64, _ now: Int64) {
    let wasTrying = ceiling.isTrying
    isExploring = false
    refusalsAtOne = width == 1 ? refusalsAtOne + 1 : 0
    ceiling.didRefuse(at: width)
    if isTryingPace {
      dropPace()
    } else {
      didRefusePace(since, now)
    }
    if !wasTrying, width == 1 || ceiling.unexplained >= Self.unexplainedMax, findPace(now) { return }
    // A try that fails ends at what is known to fit. Else many may just have ended in the same turn, so those that
    // run are not the whole truth; but when nothing was answered at all, the limit is far below.
    let least = wasTrying ? ceiling.known : answersSinceNarrowing > 0 ? width * 3 / 4 : width / 2
    let lowered = min(width - 1, max(running, least))
    narrow(to: lowered, now)
    narrowestOfBurst = max(1, least)
    ceiling.lower(to: lowered)
    if wasTrying, ceiling.failedTries == (width == 1 ? 1 : 2) { tryPace(now) }
  }

  /// A limit of requests in a time looks like one of requests at once where two that start together are refused.
  /// So, once, more are tried that do not start together.
  private mutating func tryPace(_ now: Int64) {
    guard pace == nil, let interval = goodput.interval(now), interval >= StartPace.intervalMin else { return }
    pace = StartPace(interval: interval, isNear: false, given: given, now: now)
    isTryingPace = true
    ceiling.trySoon()
  }

  /// The width is free again: what runs is up to the pace.
  private mutating func findPace(_ now: Int64) -> Bool {
    let measured = goodput.interval(now) ?? 0
    let interval = max(measured, given.shortest)
    guard pace == nil, interval >= StartPace.intervalMin else { return false }
    let pace = StartPace(interval: interval, isNear: interval == measured, given: given, now: now)
    self.pace = pace
    holdUntil = max(holdUntil, pace.nextStart)
    ceiling = WidthCeiling()
    refusalsAtOne = 0
    narrowedAt = now
    resize(to: width * 2)
    return true
  }

  /// Waits as long as the origin asks, and then begins gently; or, when it asks for nothing and one at a time is
  /// too much for it, 50 ms, doubled at each refusal up to a second.
  mutating func hold(_ retryAfter: Double?, _ now: Int64) {
    var seconds = max(0, retryAfter ?? 0)
    if seconds > 0 {
      isExploring = true
      resize(to: min(width, 2))
    }
    if refusalsAtOne > 0 { seconds = max(seconds, min(1, 0.05 * Double(1 << min(refusalsAtOne - 1, 10)))) }
    guard seconds > 0 else { return }
    let hold = Int64(min(seconds, Self.holdSecondsMax) * 1_000_000)
    goodput.didHold(max(0, now + hold - max(now, holdUntil)), now)
    ceiling.didHold(hold, now)
    pace?.didHold(hold, now)
    holdUntil = max(holdUntil, now + hold)
  }
}
