/// How one frozen request is kept and sent.
public struct FreezeOptions: Sendable, Hashable {
  var core: FreezeTerms
  init(core: FreezeTerms) { self.core = core }

  /// All defaults.
  public init() { core = FreezeTerms() }

  /// Requests of one lane are sent in the order in which they were enqueued, one at a time. Nil, the default: all
  /// requests to one origin are one lane. At most 512 bytes.
  public var lane: String? {
    get { core.lane }
    set { core.lane = newValue }
  }

  /// False: up to four of its lane may be on their way at once; true by default.
  public var isOrdered: Bool {
    get { core.isOrdered }
    set { core.isOrdered = newValue }
  }

  /// Seconds until it expires; the engine's when nil.
  public var lifetime: Double? {
    get { core.lifetime }
    set { core.lifetime = newValue }
  }

  /// True: it is sent again even when an earlier attempt may have had its effect and nothing protects it from having it
  /// twice; false by default.
  public var isAtLeastOnce: Bool {
    get { core.isAtLeastOnce }
    set { core.isAtLeastOnce = newValue }
  }

  /// As long as a request with the same key waits, enqueueing another one adds nothing: both operations get its
  /// outcome. Nil by default. At most 512 bytes.
  public var dedupeKey: String? {
    get { core.dedupeKey }
    set { core.dedupeKey = newValue }
  }

  /// The caller's own, given back with the outcome; at most 4 KiB.
  public var userInfo: [UInt8] {
    get { core.userInfo }
    set { core.userInfo = newValue }
  }
}
