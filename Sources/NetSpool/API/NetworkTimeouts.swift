/// The time limits of an operation, in seconds. Time in the queue never counts, except for `queueDeadline`.
/// A value of 0 or less is refused with `.invalidConfiguration`. A limit that is passed ends the operation
/// with `.timedOut`, within 100 ms.
public struct NetworkTimeouts: Sendable, Hashable {
  var core: Timeouts
  init(core: Timeouts) { self.core = core }

  /// All defaults.
  public init() { core = Timeouts() }

  /// Name lookup, connection and TLS handshake together; 10 s.
  public var connect: Double {
    get { core.connect }
    set { core.connect = newValue }
  }

  /// From the request sent to the end of the header block; 30 s, absolute: dripping bytes do not extend it.
  public var headers: Double {
    get { core.head }
    set { core.head = newValue }
  }

  /// A body slower than `stallBytesPerSecond` for this long has stalled; 30 s; nil switches it off, for
  /// long polls and event streams.
  public var stall: Double? {
    get { core.stall }
    set { core.stall = newValue }
  }

  /// 100 bytes a second.
  public var stallBytesPerSecond: Int {
    get { core.stallBytesPerSecond }
    set { core.stallBytesPerSecond = newValue }
  }

  /// The whole transfer; 60 s; nil is no limit, and the default when the body goes to streams.
  public var total: Double? {
    get { core.total }
    set { core.total = newValue }
  }

  /// Waiting for a slot; nil, the default, is no limit.
  public var queueDeadline: Double? {
    get { core.queueDeadline }
    set { core.queueDeadline = newValue }
  }
}
