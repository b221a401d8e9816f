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
  private var patience = Self.patienceFirst
  private var answers = 0
  /// Not before this time, however many good answers there are.
  private var nextTry = Int64.min

  /// Good answers before the first try: what was learned in a burst is rough. Doubled at each that fails.
  private static var patienceFirst: Int { 32 }
  private static var patienceMax: Int { 16_384 }
  private static var patienceShortest: Int { 16 }
  /// A hold costs its length, so the next try waits fifty times as long: 2 %.
  private static var triesPerHold: Int64 { 50 }

  mutating func didAnswer() { answers += 1 }

  mutating func didHold(_ microseconds: Int64, _ now: Int64) {
    nextTry = max(nextTry, now + microseconds * Self.triesPerHold)
  }

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
    patience = min(max(patience, Self.patienceFirst) * 2, Self.patienceMax)
  }

  /// The next try comes soon, under other circumstances.
  mutating func trySoon() { answers = max(answers, patience - Self.patienceShortest) }

  mutating func lower(to width: Int) {
    self.width = max(1, min(self.width, width))
    isTrying = false
    answers = 0
  }

  /// What a width may grow to: up to the ceiling, or, when it is time for a try, one above it.
  mutating func limit(_ grown: Int, from width: Int, _ now: Int64) -> Int {
    guard grown > self.width else { return grown }
    guard width >= self.width, answers >= patience, now >= nextTry else { return max(width, self.width) }
    if isTrying {
      patience = max(patience / 2, Self.patienceShortest)
      failedTries = 0
    }
    isTrying = true
    unexplained = 0
    answers = 0
    self.width = width + max(1, width / 16)
    return self.width
  }
}
