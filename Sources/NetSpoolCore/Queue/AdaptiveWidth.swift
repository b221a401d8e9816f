/// Finds the width at which an origin is busy but nothing queues there.
///
/// Evidence is gathered in rounds of about one width of answers. The *wait* is how much later even the
/// luckiest answer of the round came than the quickest ever: noise slows some answers, a queue slows all.
/// - While rounds are saturated and the wait is short, the width grows: by half until the first trouble (from
///   6 to 64 takes six rounds), then by a sixteenth.
/// - When the wait is longer than the service itself, the width shrinks by an eighth.
/// - A refusal shows where the origin's limit lies: one below the width of that moment is the ceiling. Another
///   try above it costs a refusal and perhaps a hold, so it is made rarely, and more rarely each time it fails.
/// - When a fifth of a round fails, the width is halved.
struct AdaptiveWidth: Sendable {
  var maximum: Int {
    didSet { width = max(1, min(width, maximum)) }
  }
  private(set) var width: Int
  private(set) var holdUntil: Int64?

  private var running = 0
  private var round = Round()
  /// No trouble seen yet.
  private var isExploring = true
  /// The width above which the origin refused, and how many good answers it takes to try again.
  private var ceiling: Int?
  private var patience = Self.patienceMin
  private var answersAtCeiling = 0
  /// Not before this time, however many good answers there are.
  private var nextTry = Int64.min
  /// The last try has not been refused.
  private var didTry = false
  /// Refusals in a row at width 1, where only waiting is left.
  private var refusalsAtOne = 0
  private var best = QuickestAnswer()

  init(maximum: Int) {
    self.maximum = max(1, maximum)
    width = min(6, self.maximum)
  }

  /// Fewer answers make a poor minimum.
  private static var roundAnswersMin: Int { 6 }
  /// Waits under 5 ms are as likely our own loop's as the origin's.
  private static var waitIgnoredSeconds: Double { 0.005 }
  /// Answers between tries above the ceiling: one refusal in 256 is 0.4 %.
  private static var patienceMin: Int { 256 }
  private static var patienceMax: Int { 16_384 }
  /// A hold costs its length, so the next try waits fifty times as long: 2 %.
  private static var triesPerHold: Double { 50 }
  /// Retry-After beyond an hour is cut to it: a wrong date must not close an origin for ever.
  private static var holdSecondsMax: Double { 3600 }

  func isHeld(at now: Int64) -> Bool { holdUntil.map { now < $0 } ?? false }

  mutating func apply(_ event: OriginSizing.Event, now: Int64) {
    if !isHeld(at: now) { holdUntil = nil }
    switch event {
    case .started:
      running += 1
      round.isSaturated = round.isSaturated || running >= width
    case .finished(let latency, _): didFinish(latency, now)
    case .failed: didFail(now)
    case .throttled(let retryAfter): didThrottle(retryAfter, now)
    case .abandoned: didEnd()
    }
  }

  private mutating func didEnd() {
    precondition(running > 0, "more transfers of an origin ended than were started")
    running -= 1
  }
}

/// The evidence of one round.
private struct Round: Sendable {
  var answers = 0
  var failures = 0
  var latencySum = 0.0
  var latencyMin = Double.infinity
  var isSaturated = false
  var isThrottled = false
}

extension AdaptiveWidth {
  private mutating func didFinish(_ latency: Double, _ now: Int64) {
    didEnd()
    refusalsAtOne = 0
    answersAtCeiling += 1
    round.answers += 1
    round.latencySum += latency
    round.latencyMin = min(round.latencyMin, latency)
    if best.take(latency, now), round.isSaturated {
      measureAgain()
    } else if round.answers >= max(width, Self.roundAnswersMin) {
      endRound(now)
    }
  }

  /// What is remembered as quickest may itself have queued: leave room for a moment, then grow as at first.
  /// Without this the width of a crowded origin creeps up minute after minute.
  private mutating func measureAgain() {
    isExploring = true
    resize(to: width / 2)
  }

  private mutating func didFail(_ now: Int64) {
    didEnd()
    round.failures += 1
    guard round.failures * 5 > max(width, 4) else { return }
    // At 1 it was not the width that failed; once the origin is back, it is found as at the beginning.
    isExploring = width == 1
    resize(to: width / 2)
  }

  private mutating func didThrottle(_ retryAfter: Double?, _ now: Int64) {
    didEnd()
    // A burst of refusals is one lesson: only its first one costs patience.
    if !round.isThrottled, ceiling != nil { patience = min(patience * 2, Self.patienceMax) }
    isExploring = false
    didTry = false
    answersAtCeiling = 0
    refusalsAtOne = width == 1 ? refusalsAtOne + 1 : 0
    let lowered = max(1, width - 1)
    ceiling = lowered
    // What still runs is what fits; but many may just have ended in the same tick, so not below 3/4.
    resize(to: min(lowered, max(running, width * 3 / 4)))
    round.isThrottled = true
    hold(retryAfter, now)
  }

  /// Waits as long as the origin asks, or, when it asks for nothing and one at a time is too much for it,
  /// 50 ms, doubled at each refusal up to 10 s.
  private mutating func hold(_ retryAfter: Double?, _ now: Int64) {
    var seconds = retryAfter ?? 0
    if refusalsAtOne > 0 { seconds = max(seconds, min(10, 0.05 * Double(1 << min(refusalsAtOne - 1, 10)))) }
    guard seconds > 0 else { return }
    let hold = min(seconds, Self.holdSecondsMax) * 1_000_000
    holdUntil = max(holdUntil ?? 0, now + Int64(hold))
    nextTry = max(nextTry, now + Int64(hold * Self.triesPerHold))
  }

  private mutating func endRound(_ now: Int64) {
    let wait = round.latencyMin - best.latency
    let service = round.latencySum / Double(round.answers) - wait
    let isCrowded = wait > service + Self.waitIgnoredSeconds
    let isNearBest = wait <= service / 2 + Self.waitIgnoredSeconds
    if !isNearBest { isExploring = false }
    if isCrowded {
      resize(to: width - max(1, width / 8))
    } else {
      resize(to: isNearBest && round.isSaturated && round.failures == 0 ? grown(now) : width)
    }
  }

  private func grown(_ now: Int64) -> Int {
    let grown = width + (isExploring ? (width + 1) / 2 : max(1, width / 16))
    guard let ceiling else { return grown }
    let mayTry = answersAtCeiling >= patience && now >= nextTry
    return mayTry ? width + 1 : min(grown, ceiling)
  }

  /// Sets the width and begins the next round.
  private mutating func resize(to newWidth: Int) {
    width = min(max(newWidth, 1), maximum)
    round = Round()
    if let ceiling, width > ceiling { didTryAbove() }
  }

  /// The ceiling was passed. If the try before this one was not refused either, the origin has become wider.
  private mutating func didTryAbove() {
    ceiling = width
    answersAtCeiling = 0
    if didTry { patience = Self.patienceMin }
    didTry = true
  }
}
