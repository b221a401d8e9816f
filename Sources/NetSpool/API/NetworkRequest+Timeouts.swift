extension NetworkRequest {
  /// The time limits of an operation. Time in the queue never counts, except for `queueDeadline`.
  ///
  /// A limit of zero or less is refused with `.invalidConfiguration`. A limit that is passed ends the operation
  /// with `.timedOut`, within 100 ms.
  public struct Timeouts: Sendable, Hashable {
    /// All defaults.
    public init() {}

    /// Name lookup, connection and TLS handshake together; 10 s.
    public var connect: Duration = .seconds(10)
    /// From the request sent to the end of the header block; 30 s, absolute: dripping bytes do not extend it.
    public var headers: Duration = .seconds(30)
    /// A body slower than `stallBytesPerSecond` for this long has stalled; 30 s; nil switches it off, for
    /// long polls and event streams.
    public var stall: Duration? = .seconds(30)
    /// 100 bytes a second.
    public var stallBytesPerSecond = 100
    /// The whole transfer; 60 s; nil is no limit, and the default when the body goes to streams.
    public var total: Duration? = .seconds(60)
    /// Waiting for a slot; nil, the default, is no limit.
    public var queueDeadline: Duration?

    static let standard = Timeouts()

    /// The name of the first limit that is none.
    var firstInvalid: String? {
      if connect <= .zero { return "connect" }
      if headers <= .zero { return "headers" }
      if stall.map({ $0 <= .zero }) ?? false || stallBytesPerSecond <= 0 { return "stall" }
      if total.map({ $0 <= .zero }) ?? false { return "total" }
      if queueDeadline.map({ $0 <= .zero }) ?? false { return "queueDeadline" }
      return nil
    }
  }
}
