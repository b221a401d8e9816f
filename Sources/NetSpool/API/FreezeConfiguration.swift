/// The settings of an engine's frozen requests: a value, checked by `useFreezing`. What concerns the whole store
/// (everything but `lifetime`, `idempotencyKeyField`, `scope` and `secrets`) its first user in the process decides.
public struct FreezeConfiguration: Sendable {
  /// All defaults, in another directory than the usual one.
  public init(directory: String? = nil) { self.directory = directory }

  /// The store's directory. Nil, the default, is `$XDG_STATE_HOME/netspool/<name>`, or
  /// `~/.local/state/netspool/<name>`, with the engine's `storageName`. Made with mode 0700 if it is not
  /// there. Engines of one process that name the same directory share it; a second process is refused with
  /// `.storeInUse`.
  public var directory: String?
  /// Names whose requests these are, besides the engine's host; empty by default. What an earlier process left is sent
  /// by an engine of the same host and name only, with that engine's credentials: give each user of one server
  /// another. It is sent only if the engine's `egress`, `resolve`, `unixSocket` and `tls.unsafelyTrustsAnyCertificate` are
  /// the same as well (of rules that are closures, any). At most 256 bytes, without NUL.
  public var scope = ""
  /// Bytes on disk; 1 GiB; 1 MiB to 16 TiB. From 85 % of them on nothing more is accepted (`.queueFull`).
  public var bytesMax = 1 << 30
  /// Requests that wait at most; 100,000. More are refused with `.queueFull`.
  public var requestsMax = 100_000
  /// The largest body, in bytes; 16 MiB; at most half of `bytesMax`, with which it is to be lowered. Larger ones are refused with `.bodyTooLarge`.
  public var bodyBytesMax = 16 << 20
  /// After so long a request that could not be sent becomes a dead letter (`.frozenExpired`); 7 days.
  public var lifetime: Duration = .seconds(7 * 86_400)
  /// Attempts that were answered with an error that may pass, or not at all; 12. With the last one the request becomes a
  /// dead letter (`.frozenPoisoned`). What could not be connected is no attempt.
  public var attemptsMax = 12
  /// Attempts that the process did not survive; 3.
  public var crashesMax = 3
  /// The wait before attempt n + 1 is drawn evenly from 0 to `backoffBase` doubled n - 1 times; 1 s.
  public var backoffBase: Duration = .seconds(1)
  /// The longest such wait; 300 s. `Retry-After` is a floor for it, up to an hour.
  public var backoffMax: Duration = .seconds(300)
  /// Answers after which a request is sent again: 408, 425, 429, 500, 502, 503, 504. With WebDAV, add 423 and 507.
  public var repeatedStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
  /// The time for which origins are trusted to remember an idempotency key; 23 hours.
  public var idempotencyWindow: Duration = .seconds(23 * 3_600)
  /// The field that carries the key; `Idempotency-Key`. Nil: none does, and a POST or PATCH that may have reached the origin
  /// is not sent again, but becomes a dead letter (`.outcomeUnknown`).
  public var idempotencyKeyField: String? = "Idempotency-Key"
  /// Asked on a thread of the store's own before each attempt; nil, the default: all may be sent. What may not waits, its lane with it, for
  /// `thaw()`. For programs that look at a store, and for those that do not have the secrets of all its requests.
  package var maySend: (@Sendable (FrozenOperation) -> Bool)?

  /// Hears, once, on the delivery target, that the store was damaged when it was opened, and what became of it. Nil, the
  /// default: `onUnhandledFailure` gets `.storeCorrupt`.
  public var onDamage: (@Sendable (FrozenStoreDamage) -> Void)?

  /// The treatment of a lane whose first request is poisoned; `.skip`.
  public var onPoison = PoisonPolicy.skip
  /// Gives the values of fields that are never written to the disk (secret ones, see `Configuration.secretFields`),
  /// before each attempt to send a request whose operation is no more, on the delivery target. Nil, the default:
  /// such requests are sent without those fields. Credentials of the engine need none of this. A field that was not
  /// withheld is left out, and with a line end or NUL in a value the request is not sent (`.invalidRequest`, `secrets`).
  public var secrets: (@Sendable (FrozenOperation) -> NetworkRequest.Headers)?

  /// The treatment of a lane whose first request failed too often.
  public enum PoisonPolicy: Sendable, Hashable {
    /// The next one goes.
    case skip
    /// Its lane waits until it is revived or discarded.
    case haltLane
  }
}

/// The settings with which a frozen request is kept and sent.
public struct FreezeOptions: Sendable, Hashable {
  /// All defaults, on another lane than the usual one.
  public init(lane: String? = nil) { self.lane = lane }

  /// Requests of one lane are sent in the order in which they were enqueued, one at a time. Nil, the default: all
  /// requests to one origin are one lane. At most 512 bytes.
  public var lane: String?
  /// False: up to four of its lane may be on their way at once; true by default.
  public var isOrdered = true
  /// When it expires, counted from its acceptance; the engine's when nil. Zero or less is refused before anything
  /// is queued (`.invalidConfiguration`, `lifetime`).
  public var lifetime: Duration?
  /// True: it is sent again even when an earlier attempt may have had its effect and nothing protects it from having it
  /// twice; false by default.
  public var isAtLeastOnce = false
  /// As long as a request with the same key waits, enqueueing another one adds nothing: both operations get its
  /// outcome. Nil by default. At most 512 bytes.
  public var dedupeKey: String?
  /// The caller's own, given back with the outcome; at most 4 KiB.
  public var userInfo: [UInt8] = []
}

/// From the settings to an open store of frozen requests.
extension FreezeConfiguration {
  /// - Parameter host: the engine's origin; empty without one.
  func open(
    named name: String, host: String, within reach: AnswerScope.Reach, now: (@Sendable () -> ClockMoment)?
  ) throws(NetworkError) -> EngineFreezing {
    try check()
    var settings = Freezer.Settings(
      store: FrozenStoreSettings(
        directory: try CacheOpening.directory(
          directory, named: name, in: UserDirectories.state, of: "XDG_STATE_HOME")))
    settings.store.bytesMax = bytesMax
    settings.store.recordsMax = requestsMax
    settings.limits.bodyBytesMax = bodyBytesMax
    settings.policy.attemptsMax = UInt32(attemptsMax)
    settings.policy.crashAttemptsMax = UInt32(crashesMax)
    settings.policy.backoffBase = backoffBase.microseconds
    settings.policy.backoffMax = backoffMax.microseconds
    settings.policy.idempotencyWindow = idempotencyWindow.microseconds
    settings.policy.statusesRepeated = repeatedStatuses
    settings.policy.haltsLaneOnPoison = onPoison == .haltLane
    if let now { settings.now = now }
    let owner = scope.isEmpty ? host : "\(host)\n\(scope)"
    return EngineFreezing(try Freezer.shared(settings), self, name: owner, within: reach)
  }

  private func check() throws(NetworkError) {
    let numbers: [(String, Bool)] = [
      ("scope", scope.utf8.count <= 256 && !scope.utf8.contains(0)),
      ("bytesMax", (1 << 20...CacheOpening.storeBytesMax).contains(bytesMax)),
      ("requestsMax", requestsMax > 0),
      ("bodyBytesMax", bodyBytesMax >= 0 && bodyBytesMax <= bytesMax / 2),
      ("lifetime", lifetime > .zero && lifetime <= .longest),
      ("attemptsMax", (1...1_000_000).contains(attemptsMax)),
      ("crashesMax", (1...1_000_000).contains(crashesMax)),
      ("backoffBase", backoffBase >= .zero && backoffBase <= .seconds(1_000_000)),
      ("backoffMax", backoffMax >= .zero && backoffMax <= .seconds(1_000_000)),
      ("idempotencyWindow", idempotencyWindow >= .zero && idempotencyWindow <= .longest),
    ]
    if let wrong = numbers.first(where: { !$0.1 }) { throw .misconfigured(wrong.0) }
    guard let field = idempotencyKeyField else { return }
    do throws(NetworkError) { try HeaderRules.check(sent: [field: ""]) } catch {
      throw .misconfigured("idempotencyKeyField")
    }
  }
}
