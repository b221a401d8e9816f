/// Keeps retries to a share of the requests, so that an origin in trouble does not get a multiple of its load.
///
/// Every request pays its share in, every retry takes one out. A small reserve lets a program that has sent
/// little retry at all; the ceiling keeps a long good time from paying for a storm.
struct RetryBudget: Sendable {
  /// Retries per request. Default 0.1.
  let share: Double
  /// Retries that can be saved up, and how many of them there are at the start. Defaults 100 and 10.
  let retriesMax: Double
  private var retries: Double

  init(share: Double = 0.1, reserve: Double = 10, retriesMax: Double = 100) {
    self.share = share
    self.retriesMax = retriesMax
    retries = min(reserve, retriesMax)
  }

  /// A request has been sent for the first time.
  mutating func didSendRequest() { retries = min(retries + share, retriesMax) }

  /// Takes one retry out; false when there is none.
  mutating func withdraw() -> Bool {
    // Ten tenths do not quite add up to one in binary.
    guard retries >= 1 - 1e-9 else { return false }
    retries -= 1
    return true
  }
}
