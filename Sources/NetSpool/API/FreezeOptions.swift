/// How one frozen request is kept and sent.
public struct FreezeOptions: Sendable, Hashable {
  /// All defaults.
  public init() {}

  /// Requests of one lane are sent in the order in which they were enqueued, one at a time. Nil, the default: all
  /// requests to one origin are one lane. At most 512 bytes.
  public var lane: String?
  /// False: up to four of its lane may be on their way at once; true by default.
  public var isOrdered = true
  /// When it expires, counted from its acceptance; the engine's when nil.
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
