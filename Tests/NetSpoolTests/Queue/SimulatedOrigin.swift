import Glibc

@testable import NetSpool
@testable import TestSupport

/// An origin in virtual time.
struct SimulatedOrigin: Sendable, CustomStringConvertible {
  var description: String
  /// Mean seconds that one answer takes its worker; each takes 0.8 to 1.2 times that.
  var serviceSeconds: Double
  /// How many answers are worked on at once; the others queue.
  var workers = Int.max
  /// More than so many at once are refused, after a millisecond.
  var inFlightMax = Int.max
  /// Of so many percent of the answers it hears so much too late that they have ended.
  var lagPercent = 0
  var lagSeconds = 0.0
  /// More than so many in a second are refused: those that come earlier after the last accepted one than its
  /// share of the second, less what `burst` still allows.
  var ratePerSecond: Double?
  var burst = 0.0
  var retryAfter: Double?
  /// Percent of the answers that are failures.
  var failurePercent = 0
  /// Percent of the answers that are refusals, whatever is asked at once.
  var refusalPercent = 0
  /// What such a refusal takes; nil: as long as an answer.
  var refusalSeconds: Double?
  /// More than so many at once all fail.
  var collapsesAbove = Int.max
  /// Percent of the answers that take `slowSeconds` instead.
  var slowPercent = 0
  var slowSeconds = 0.0
  /// What the bodies of all transfers share.
  var linkBytesPerSecond = 0.0
  /// What each body gets where they share nothing, and how much that varies: the deviation of its logarithm.
  var bodyBytesPerSecond = 0.0
  var bodyVariation = 0.0
  /// Of so many percent of the bodies it is twenty times as much.
  var cachedPercent = 0
  var bodyBytes: Int64 = 8_192
  /// How much that varies: the deviation of its logarithm.
  var bodyBytesVariation = 0.0
  var closesConnections = false

  init(_ description: String, serviceSeconds: Double = 0.05, _ set: (inout Self) -> Void = { _ in }) {
    (self.description, self.serviceSeconds) = (description, serviceSeconds)
    set(&self)
  }
}

/// The state of a `SimulatedOrigin`.
struct SimulatedServer {
  enum Kind { case good, failed, refused, refusedByChance }

  var origin: SimulatedOrigin
  var generator: SplitMix64
  /// Accepted and not ended.
  private(set) var accepted = 0
  /// When it hears of those that have ended.
  private var lagging: [Int64] = []
  private var busyUntil: [Int64] = []
  /// When the rate limit is empty again.
  private var rateDebt = 0.0
  private var rateTime: Int64 = 0

  init(_ origin: SimulatedOrigin, seed: UInt64) {
    self.origin = origin
    generator = SplitMix64(seed: seed)
  }

  /// Decides about one request, and when its head comes, or the end of what is not good.
  mutating func ask(_ now: Int64) -> (kind: Kind, time: Int64) {
    lagging.removeAll { $0 <= now }
    if accepted + lagging.count >= origin.inFlightMax || !passesRate(now) { return (.refused, now + 1_000) }
    accepted += 1
    if generator.chance(origin.refusalPercent) {
      return (.refusedByChance, now + seconds(origin.refusalSeconds ?? origin.serviceSeconds))
    }
    if accepted > origin.collapsesAbove || generator.chance(origin.failurePercent) {
      return (.failed, now + seconds(origin.serviceSeconds))
    }
    return (.good, serve(now))
  }

  /// The time that the body of an answer takes where each has its own speed.
  mutating func bodyTime() -> Int64 {
    let speed = origin.bodyBytesPerSecond * exp(origin.bodyVariation * normal())
    return seconds(Double(origin.bodyBytes) / speed / (generator.chance(origin.cachedPercent) ? 20 : 1))
  }

  /// The bytes of the next body.
  mutating func bodyBytes() -> Int64 {
    guard origin.bodyBytesVariation > 0 else { return origin.bodyBytes }
    let deviation = origin.bodyBytesVariation
    return Int64(Double(origin.bodyBytes) * exp(deviation * normal() - deviation * deviation / 2))
  }

  private mutating func normal() -> Double { (0..<12).reduce(-6) { sum, _ in sum + generator.unit() } }

  mutating func didEnd(_ kind: Kind, _ now: Int64) {
    guard kind != .refused else { return }
    accepted -= 1
    if origin.lagPercent > 0, generator.chance(origin.lagPercent) {
      lagging.append(now + seconds(origin.lagSeconds))
    }
  }

  /// A leaky bucket, as of nginx.
  private mutating func passesRate(_ now: Int64) -> Bool {
    guard let rate = origin.ratePerSecond else { return true }
    let debt = max(0, rateDebt - rate * Double(now - rateTime) / 1e6)
    guard debt <= origin.burst else { return false }
    (rateDebt, rateTime) = (debt + 1, now)
    return true
  }

  /// As soon as a worker is free.
  private mutating func serve(_ now: Int64) -> Int64 {
    let isSlow = generator.chance(origin.slowPercent)
    let mean = isSlow ? origin.slowSeconds : origin.serviceSeconds
    let service = seconds(mean * (0.8 + 0.4 * generator.unit()))
    guard origin.workers < .max else { return now + service }
    busyUntil.removeAll { $0 <= now }
    busyUntil.sort()
    let begin = busyUntil.count < origin.workers ? now : busyUntil[busyUntil.count - origin.workers]
    busyUntil.append(begin + service)
    return begin + service
  }

  private func seconds(_ seconds: Double) -> Int64 { Int64(seconds * 1_000_000) }
}
