/// Finds the width at which an origin is busy but nothing queues there.
///
/// Evidence is gathered in rounds of about one width of answers. The *wait* is how much later even the
/// luckiest answer of the round came than the quickest of the last minutes: noise slows some answers, a queue
/// slows all. The *stretch* is how much longer the bodies took, per byte, than eight in a row did: it tells of a full link.
/// - While rounds are saturated and wait and stretch are short, the width grows: by half until the first trouble
///   (from 6 to 64 takes six rounds), then by a sixteenth; by a quarter where each answer costs a connection.
/// - When the wait is longer than the service itself, or bodies take much longer, it shrinks by an eighth. A wait or a stretch
///   that stays as it is with a quarter fewer is none: it is the service of what is asked now, and the width goes back.
/// - When more of a round fails than fails anyhow, the width is halved.
/// - A refusal, and a failure at full width, show where the origin's limit lies: see `WidthCeiling`. Refusals
///   that narrowing does not end show a limit of requests in a time: see `StartPace`. Those that do not end with that
///   either come by chance, and change nothing: see `RefusalTrial`.
///
/// What had begun before a narrowing cannot narrow again: one burst of trouble is one lesson.
struct AdaptiveWidth: Sendable {
  var maximum: Int { didSet { width = max(1, min(width, maximum)) } }
  var width: Int
  /// Nothing starts before: the origin's wish, or its pace.
  var holdUntil = Int64.min

  var running = 0
  var round = SizingRound()
  var baseline = SizingBaseline()
  var goodput = Goodput()
  var given = GivenBetweenRefusals()
  /// No trouble seen yet.
  var isExploring = true
  /// The width of the round before: what is answered now was asked then.
  private var widthBefore: Int
  /// The widest, and the wait and the stretch there, since answers wait.
  private var crowd: (width: Int, latency: Double, stretch: Double, wasExploring: Bool)?
  var ceiling = WidthCeiling()
  var pace: StartPace?
  /// True if refusals come by chance.
  var trial = RefusalTrial()
  /// The pace is there to find out whether starts may be more numerous when they do not come at once.
  var isTryingPace = false
  /// The time of the last narrowing because of failures or refusals, and how far its burst may narrow.
  var narrowedAt = Int64.min
  var narrowestOfBurst = 1
  /// Good answers since then.
  var answersSinceNarrowing = 0
  /// Refusals in a row at width 1, where only waiting is left.
  var refusalsAtOne = 0
  /// The share of failures that no width avoids, as seen at the narrowest.
  var failingAnyhow = 0.0

  init(maximum: Int) {
    self.maximum = max(1, maximum)
    width = min(6, self.maximum)
    widthBefore = width
  }

  /// So many refusals in a row at width 1 are no question of width.
  private static var refusalsOfOutage: Int { 4 }
  /// Fewer answers make a poor minimum.
  private static var roundAnswersMin: Int { 6 }
  /// Waits under 5 ms are as likely our own loop's as the origin's.
  private static var waitIgnoredSeconds: Double { 0.005 }
  /// A link that is shared by no more than this much is not full.
  private static var stretchIgnored: Double { 1.25 }
  private static var stretchMax: Double { 1.75 }

  mutating func apply(_ event: OriginSizing.Event, now: Int64) {
    given.pass(to: now, until: running > 0 ? now : holdUntil)
    switch event {
    case .started: didStart(now)
    case .answered(let latency, let since): didAnswer(latency, since, now)
    case .finished(let transport):
      didEnd()
      round.take(
        transport, stretch: round.isLong(transport) ? baseline.stretch(of: transport, width: width) : nil)
      endRoundIfWhole(now)
    case .failed(let since): didFail(since, now)
    case .throttled(let retryAfter, let since): didRefuse(retryAfter, since, now)
    case .abandoned: didEnd()
    case .silenced(let until): if until > now { hold(Double(until - now) / 1e6, now) }
    }
  }

  private mutating func didStart(_ now: Int64) {
    running += 1
    if running >= width { round.isSaturated = true }
    guard pace != nil else { return }
    pace?.didStart(isFull: running >= width, now)
    holdUntil = max(holdUntil, pace?.nextStart ?? holdUntil)
  }

  mutating func didEnd() {
    precondition(running > 0, "more transfers of an origin ended than were started")
    running -= 1
  }

  /// Sets the width and begins the next round.
  mutating func resize(to newWidth: Int) {
    widthBefore = width
    width = min(max(newWidth, 1), maximum)
    round = SizingRound()
  }

  private mutating func didAnswer(_ latency: Double, _ since: Int64, _ now: Int64) {
    if refusalsAtOne >= Self.refusalsOfOutage {
      // It took nothing at all: how much it takes is found out as at first.
      ceiling = WidthCeiling()
      isExploring = true
    }
    refusalsAtOne = 0
    answersSinceNarrowing += 1
    goodput.didAnswer(now)
    given.didAnswer()
    ceiling.didAnswer()
    trial.didAnswer(load(since, now))
    let isEased = goodput.isEased(by: pace?.interval, now) ?? false
    if pace?.didAnswer(since: since, isEased: isEased, now) == false { dropPace() }
    round.take(latency: latency)
    if baseline.take(latency: latency, now), round.isSaturated {
      measureAgain()
    } else {
      endRoundIfWhole(now)
    }
  }

  /// With enough answers, half of them to the end: before that, a full link does not show. Failures alone narrow before they
  /// are as many.
  private mutating func endRoundIfWhole(_ now: Int64) {
    guard round.finished * 2 >= round.answers,
      round.answers + round.failures >= max(width, Self.roundAnswersMin)
    else { return }
    endRound(now)
  }

  /// What is remembered as quickest may itself have queued: leave room for a moment, then grow as at first.
  /// Without this the width of a crowded origin creeps up minute after minute. Bodies vary more than heads, and need more room.
  private mutating func measureAgain() {
    isExploring = true
    crowd = nil
    resize(to: baseline.hasPace ? width / 4 : width / 2)
  }

  private mutating func endRound(_ now: Int64) {
    learnFailures()
    if ceiling.failedTries == 0 { isTryingPace = false }
    let wait = round.latencyMin - baseline.latency
    let service = round.latencySum / Double(round.answers) - wait
    let isCrowded = wait > service + Self.waitIgnoredSeconds || round.stretch > Self.stretchMax
    let isNearBest = wait <= service / 2 + Self.waitIgnoredSeconds && round.stretch <= Self.stretchIgnored
    let wasExploring = isExploring
    if !isNearBest { isExploring = false }
    if !isCrowded { crowd = nil }
    let next = isCrowded ? shrunk(wasExploring, now) : isNearBest && round.isSaturated ? grown(now) : width
    resize(to: next)
  }

  /// A queue of ours is as long as we are wide.
  private mutating func shrunk(_ wasExploring: Bool, _ now: Int64) -> Int {
    var widest = crowd ?? (widthBefore, round.latencyMin, round.stretch, wasExploring)
    if widthBefore > widest.width {
      (widest.width, widest.latency, widest.stretch) = (widthBefore, round.latencyMin, round.stretch)
    }
    let isTold = width == 1 || widthBefore * 4 <= widest.width * 3
    let isStretched = round.stretch > Self.stretchMax
    // Of a crowd that began with a wait, nothing is known of the stretch.
    let isAsLate =
      isStretched
      ? widest.stretch > Self.stretchMax && round.stretch > widest.stretch * 0.9
      : round.latencyMin > widest.latency * 0.9
    crowd = isTold ? nil : widest
    guard isTold, width == 1 || isAsLate else { return width - max(1, width / 8) }
    if isStretched { baseline.slow(by: round.stretch) } else { baseline.begin(with: round.latencyMin) }
    isExploring = widest.wasExploring
    return ceiling.limit(widest.width, from: width, now)
  }

  private mutating func grown(_ now: Int64) -> Int {
    let step = isExploring ? (round.isChurning ? 4 : 2) : 16
    return ceiling.limit(width + max(1, width / step), from: width, now)
  }

  // MARK: Failures

  /// At the narrowest, what fails fails whatever the width.
  private mutating func learnFailures() {
    let share = Double(round.failures) / Double(round.answers + round.failures)
    if width <= 2 {
      failingAnyhow += (share - failingAnyhow) / 4
    } else if share < failingAnyhow {
      failingAnyhow += (share - failingAnyhow) / 16
    }
  }

  /// A fifth more than fail anyhow.
  private var failuresMax: Int {
    max(2, Int(min(0.7, 0.2 + 1.5 * failingAnyhow) * Double(max(width, Self.roundAnswersMin))))
  }

  /// A width one above what is known to be good fails by one in a round, so a try is judged more sharply.
  private var failuresOfTryMax: Int { max(1, Int((0.06 + 1.5 * failingAnyhow) * Double(width))) }

  private mutating func endTry(_ now: Int64) {
    ceiling.didRefuse(at: width)
    ceiling.lower(to: ceiling.known)
    narrow(to: ceiling.width, now)
  }

  private mutating func didFail(_ since: Int64, _ now: Int64) {
    didEnd()
    guard since >= narrowedAt else { return }
    round.failures += 1
    if ceiling.isTrying, width > Self.roundAnswersMin, round.failures > failuresOfTryMax {
      return endTry(now)
    }
    guard round.failures > failuresMax else { return }
    learnFailures()
    // At 1 it was not the width that failed; once the origin is back, it is found as at the beginning.
    isExploring = true
    if width == 1 || !round.isSaturated { ceiling = WidthCeiling() } else { ceiling.didFail(at: width) }
    narrow(to: width / 2, now)
  }

  mutating func dropPace() {
    pace = nil
    isTryingPace = false
  }

  mutating func narrow(to newWidth: Int, _ now: Int64) {
    narrowestOfBurst = max(1, newWidth)
    narrowedAt = now
    answersSinceNarrowing = 0
    crowd = nil
    resize(to: newWidth)
  }
}
