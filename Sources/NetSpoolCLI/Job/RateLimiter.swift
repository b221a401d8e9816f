/// `--rate`: a token bucket over the starts of fetches. Time comes from outside, in nanoseconds.
struct RateLimiter: Equatable, Sendable {
  /// Starts per second.
  let perSecond: Double
  /// How many may start at once after a pause: a tenth of a second's worth, at least one.
  let burst: Double
  private var tokens: Double
  private var lastRefill: Int64?

  init(perSecond: Double) {
    self.perSecond = perSecond
    burst = max(1, perSecond / 10)
    tokens = burst
  }

  /// `50`, `50/s`, `30/m` or `10/h`.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let (amount, unit) = splitAmount(String(parts[0])), unit.isEmpty else {
      return nil
    }
    guard let seconds = Self.seconds(parts.count == 2 ? parts[1] : "s") else { return nil }
    let perSecond = amount / seconds
    guard perSecond >= 1 / 86_400, perSecond <= 1e6 else { return nil }
    self.init(perSecond: perSecond)
  }

  private static func seconds(_ unit: Substring) -> Double? {
    ["s": 1, "m": 60, "min": 60, "h": 3_600][unit]
  }

  /// Takes one start if there is one; else the nanoseconds until there will be.
  mutating func take(now: Int64) -> Int64? {
    refill(now)
    guard tokens < 1 else {
      tokens -= 1
      return nil
    }
    return max(1, Int64(((1 - tokens) / perSecond * 1e9).rounded(.up)))
  }

  private mutating func refill(_ now: Int64) {
    let elapsed = Double(max(0, now - (lastRefill ?? now))) / 1e9
    tokens = min(burst, tokens + elapsed * perSecond)
    lastRefill = now
  }
}
