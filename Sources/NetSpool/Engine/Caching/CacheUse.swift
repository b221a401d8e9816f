/// What an exchange has to do with the cache, from the decision to its end. Loop thread.
final class CacheUse {
  let cache: EngineCache
  let question: CacheQuestion
  /// What is held, fresh or not.
  let held: HeldAnswer?
  /// Fields that make the request conditional; none: a plain one.
  let conditions: Headers
  /// What is held, as it was delivered before the origin was asked.
  var early: NetworkResponse?
  /// Of the exchange under way: assigned whole when it begins.
  var findings: Findings
  /// While it has its turn: no other process asks for the same.
  var claim: Claim?
  /// Its body will be stored when the last of it is on the disk.
  var isBeingKept = false
  /// What answers instead of a failure, if it still stands there.
  var standIn: HeldAnswer?
  /// Streams have been opened for an answer from the network.
  var hasOpenedStreams = false

  /// What one exchange's head means.
  struct Findings {
    /// When the exchange began, in milliseconds since 1970.
    let requestedAt: Int64
    /// What will be stored once the body is whole.
    var entry: StoredResponse?
    /// What a 304 means.
    var notModified: NotModified?
  }

  init(_ cache: EngineCache, _ question: CacheQuestion, held: HeldAnswer?, conditions: Headers = .init()) {
    self.cache = cache
    self.question = question
    self.held = held
    self.conditions = conditions
    findings = Findings(requestedAt: cache.now)
  }

  var isConditional: Bool { conditions.count > 0 }

  func beginExchange() { findings = Findings(requestedAt: cache.now) }
}
