/// The width above which an origin refused or failed, and when to try again whether it still does.
///
/// A try costs a refusal and perhaps a hold, so it is made rarely, and more rarely each time it fails; each one
/// that succeeds makes the next one come sooner.
struct WidthCeiling: Sendable {
  private(set) var width = Int.max
  private(set) var isTrying = false
  /// Refusals in a row that came though the ceiling was kept: not the width is what is limited.
  private(set) var unexplained = 0
  /// Tries in a row that were refused.
  private(set) var failedTries = 0
  /// The width before the last try.
  private(set) var known = 1
  /// Tries in a row that were good: each doubles the step of the next.
  private var goodTries = 0
  private var patience = Self.patienceFirst
  private var answers = 0
  /// Not before it is over, however many good answers there are.
  private var nextTry = TryPause()

  /// Good answers before the first try: what was learned in a burst is rough. Doubled at each that fails.
  private static var patienceFirst: Int { 32 }
  private static var patienceMax: Int { 16_384 }
  private static var patienceShortest: Int { 16 }

  mutating func didAnswer() { answers += 1 }

  mutating func didHold(_ microseconds: Int64, _ now: Int64) { nextTry.didHold(microseconds, now) }

  /// The first refusal of a burst, at this width.
  mutating func didRefuse(at width: Int) {
    if isTrying {
      didFailToRise()
    } else if width <= self.width, self.width < .max {
      unexplained += 1
    }
    lower(to: width - 1)
  }

  /// Failures do not say where the limit is, only that it was passed.
  mutating func didFail(at width: Int) {
    if isTrying { didFailToRise() }
    lower(to: width - max(1, width / 8))
  }

  private mutating func didFailToRise() {
    failedTries += 1
    goodTries = 0
    nextTry.didFail()
    patience = min(max(patience, Self.patienceFirst) * 2, Self.patienceMax)
  }

  /// The next try comes soon, under other circumstances.
  mutating func trySoon() { answers = max(answers, patience - Self.patienceShortest) }

  mutating func lower(to width: Int) {
    self.width = max(1, min(self.width, width))
    isTrying = false
    answers = 0
  }

  /// What a width may grow to: up to the ceiling, or, when it is time for a try, a step above it.
  mutating func limit(_ grown: Int, from width: Int, _ now: Int64) -> Int {
    guard grown > self.width else { return grown }
    guard width >= self.width, answers >= patience, nextTry.isOver(now) else { return max(width, self.width) }
    if isTrying {
      patience = max(patience / 2, Self.patienceShortest)
      failedTries = 0
      goodTries += 1
      nextTry = TryPause()
    }
    isTrying = true
    unexplained = 0
    answers = 0
    known = width
    let step = max(1, width / 16) << min(goodTries, 6)
    self.width = width + max(1, min(step, width / 2))
    return self.width
  }
}

/// How long nothing more is tried after an origin has asked for quiet. A refusal costs the time that it asks
/// for: at first twice as long is waited before the next try, and four times that at each that fails, up to
/// fifty times: 2 %.
struct TryPause: Sendable {
  private var end = Int64.min
  private var factor: Int64 = 2

  func isOver(_ now: Int64) -> Bool { now >= end }

  mutating func didFail() { factor = min(factor * 4, 50) }

  mutating func didHold(_ microseconds: Int64, _ now: Int64) {
    end = max(end, now + microseconds * (1 + factor))
  }
}

/// Finds out whether an origin refuses less when less is asked of it. Where it does not, its refusals come by chance, as
/// those of a balancer with a replica that is down, and to ask less would not help.
///
/// From the first refusal on, answers and refusals are counted, and those apart that came when clearly less was asked
/// than the origin takes. When these are refused about as often as the others were, refusals come by chance: from then on
/// they change nothing, until they become far more frequent or stop.
struct RefusalTrial: Sendable {
  private struct Tally: Sendable {
    var answers = 0
    var refusals = 0

    var count: Int { answers + refusals }

    /// A refusal is quick, so what still runs counts as answered: at first there are refusals alone.
    func share(beside running: Int = 0) -> Double { Double(refusals) / Double(max(1, count + running)) }

    mutating func add(_ isRefusal: Bool) { if isRefusal { refusals += 1 } else { answers += 1 } }
  }

  /// The load when something was asked.
  struct Load {
    /// Clearly less was asked than what the origin takes, unless it takes nothing.
    var isEased: Bool
    /// Starts are spread in time.
    var isPaced: Bool
    /// What runs now.
    var running: Int
  }

  /// Refusals come whatever is asked.
  private(set) var isByChance = false
  /// The width when they began; nil when there are none.
  private(set) var widthBefore: Int?
  private var before = Tally()
  private var eased = Tally()
  /// The share that comes by chance.
  private var chance = 0.0
  private var answersInARow = 0
  private var refusalsInARow = 0

  /// So many answers in a row end it.
  private static var answersMax: Int { 200 }
  /// Up to half may come by chance, and a little more in a short time. An origin that refuses more takes hardly anything.
  private static var shareMax: Double { 0.65 }
  private static var shareOfManyMax: Double { 0.8 }
  private static var manyCount: Int { 12 }
  /// Half of them by chance, this many in a row come once in four thousand times.
  private static var refusalsInARowMax: Int { 12 }
  /// By chance is judged anew after so many.
  private static var watchedCount: Int { 32 }

  mutating func didAnswer(_ load: Load) {
    guard widthBefore != nil else { return }
    // What was down is back: what it refuses from now on is another matter.
    if !isByChance, refusalsInARow >= Self.refusalsInARowMax / 2 { (before, eased) = (Tally(), Tally()) }
    refusalsInARow = 0
    answersInARow += 1
    if answersInARow >= Self.answersMax, !load.isPaced { return self = RefusalTrial() }
    add(false, load)
  }

  /// True when it has just turned out that refusals come by chance.
  mutating func didRefuse(at width: Int, _ load: Load) -> Bool {
    if widthBefore == nil { widthBefore = width }
    answersInARow = 0
    refusalsInARow += 1
    add(true, load)
    guard !isByChance, areByChance(load) else { return false }
    isByChance = true
    chance = Tally(
      answers: before.answers + eased.answers, refusals: before.refusals + eased.refusals
    ).share()
    eased = Tally()
    return true
  }

  private mutating func add(_ isRefusal: Bool, _ load: Load) {
    if isByChance {
      eased.add(isRefusal)
      watch(load)
    } else if load.isEased {
      eased.add(isRefusal)
    } else {
      before.add(isRefusal)
    }
  }

  /// With a limit, hardly anything would be refused any more. What was counted at first is rough: what is refused again
  /// and again, however little is asked, tells more.
  private func areByChance(_ load: Load) -> Bool {
    guard load.isEased, eased.refusals >= 3 else { return false }
    let share = eased.share(beside: load.running)
    // A limit would be kept by then.
    if eased.count >= Self.manyCount, share <= Self.shareOfManyMax, share >= 0.4 { return true }
    return share <= Self.shareMax && share >= before.share() * (eased.refusals >= 6 ? 0.15 : 0.4)
  }

  /// Far more than come by chance: then it is the load after all, or the origin is down.
  private mutating func watch(_ load: Load) {
    let isWhole = eased.count >= Self.watchedCount
    let isFarMore = isWhole && eased.share(beside: load.running) > min(chance, 0.5) + 0.25
    if refusalsInARow >= Self.refusalsInARowMax + 2 * load.running || isFarMore {
      self = RefusalTrial()
    } else if isWhole {
      eased = Tally()
    }
  }
}
