/// Whether an origin refuses less when less is asked of it. Where it does not, its refusals come by chance, as those of a
/// balancer with a replica that is down, and to ask less would help nobody.
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
    guard eased.refusals >= 3 else { return false }
    let share = eased.share(beside: load.running)
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
