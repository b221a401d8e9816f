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
    /// The whole operation from its first start on, with its redirects, repetitions and the waits between them; time
    /// in the queue and under `pause()` does not count. 60 s; nil is no limit. Unless it is set, there is none for a body
    /// that goes to streams, or comes from a stream or a file.
    public var total: Duration? {
      get { ownTotal ?? .seconds(60) }
      set { ownTotal = .some(newValue) }
    }
    /// Nil until it is set.
    private var ownTotal: Duration??
    /// Waiting for a slot; nil, the default, is no limit.
    public var queueDeadline: Duration?

    static let standard = Timeouts()

    /// The same with the total that holds for a body that goes to streams, or comes from them.
    func forStreams(_ isStreamed: Bool) -> Timeouts {
      guard isStreamed, ownTotal == nil else { return self }
      var limits = self
      limits.ownTotal = .some(nil)
      return limits
    }

    /// The longest of each: an exchange that several share serves the most patient.
    func longest(_ other: Timeouts) -> Timeouts {
      var limits = self
      limits.connect = max(connect, other.connect)
      limits.headers = max(headers, other.headers)
      limits.stall = Self.longest(stall, other.stall)
      limits.stallBytesPerSecond = min(stallBytesPerSecond, other.stallBytesPerSecond)
      limits.total = Self.longest(total, other.total)
      return limits
    }

    /// Nil is none, and so the longest.
    private static func longest(_ a: Duration?, _ b: Duration?) -> Duration? {
      if let a, let b { max(a, b) } else { nil }
    }

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
