/// The settings of an engine's frozen requests: a value, checked by `useFreezing`. What concerns the whole store
/// (everything but `lifetime`, `idempotencyKeyField`, `scope` and `secrets`) its first user in the process decides.
public struct FreezeConfiguration: Sendable {
  /// All defaults.
  public init() {}

  /// Where the store lies. Nil, the default, is `$XDG_STATE_HOME/netspool/<name>`, or `~/.local/state/netspool/<name>`,
  /// with the engine's `storageName`. Made with mode 0700 if it is not there. Engines of one process that name the
  /// same directory share it; a second process is refused with `.storeInUse`.
  public var directory: String?
  /// Names whose requests these are, besides the engine's host; empty by default. What an earlier process left is sent
  /// by an engine of the same host and name only, with that engine's credentials: give each user of one server
  /// another. At most 256 bytes.
  public var scope = ""
  /// Bytes on disk; 1 GiB; 1 MiB to 16 TiB. From 85 % of them on nothing more is accepted (`.queueFull`).
  public var bytesMax = 1 << 30
  /// Requests that wait at most; 100,000. More are refused with `.queueFull`.
  public var requestsMax = 100_000
  /// The largest body, in bytes; 16 MiB. Larger ones are refused with `.bodyTooLarge`.
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
  /// How long origins are trusted to remember an idempotency key; 23 hours.
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

  /// What becomes of a lane whose first request is poisoned; `.skip`.
  public var onPoison = PoisonPolicy.skip
  /// Gives the values of fields that are never written to the disk (secret ones, see `Configuration.secretFields`),
  /// before each attempt to send a request whose operation is no more, on the delivery target. Nil, the default:
  /// such requests are sent without those fields. Credentials of the engine need none of this.
  public var secrets: (@Sendable (FrozenOperation) -> NetworkRequest.Headers)?

  /// What becomes of a lane whose first request failed too often.
  public enum PoisonPolicy: Sendable, Hashable {
    /// The next one goes.
    case skip
    /// Its lane waits until it is revived or discarded.
    case haltLane
  }
}
