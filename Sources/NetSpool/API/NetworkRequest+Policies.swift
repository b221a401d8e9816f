extension NetworkRequest {
  /// The time limits of an operation: its request's where they are set, else its engine's. Time in the queue does not
  /// count, except for `queueDeadline`, and for `total` while the origin has asked for a pause.
  ///
  /// A limit of zero or less is refused with `.invalidConfiguration`. A limit that is passed ends the operation
  /// with `.timedOut`, within 100 ms.
  public struct Timeouts: Sendable, Hashable {
    /// All defaults; of a request, all its engine's.
    public init() {}

    /// Some of them; what is nil is the engine's. A property that is set to nil is no limit.
    public init(
      connect: Duration? = nil, headers: Duration? = nil, stall: Duration? = nil, total: Duration? = nil,
      attempt: Duration? = nil, reader: Duration? = nil, queueDeadline: Duration? = nil
    ) {
      // Not here in the initialiser, where no observer would note that they are set.
      self.init()
      set(connect, headers, stall, total, attempt, reader, queueDeadline)
    }

    private mutating func set(
      _ connect: Duration?, _ headers: Duration?, _ stall: Duration?, _ total: Duration?,
      _ attempt: Duration?, _ reader: Duration?, _ queueDeadline: Duration?
    ) {
      if let connect { self.connect = connect }
      if let headers { self.headers = headers }
      if let stall { self.stall = stall }
      if let total { self.total = total }
      if let attempt { self.attempt = attempt }
      if let reader { self.reader = reader }
      if let queueDeadline { self.queueDeadline = queueDeadline }
    }

    /// The limits that have been set.
    private var own: Limits = []

    /// Name lookup, connection and TLS handshake together; 10 s. An address of the name that does not answer gives way to
    /// the next one after 300 ms.
    public var connect: Duration = .seconds(10) { didSet { own.insert(.connect) } }
    /// From the request sent to the end of the header block; 30 s, absolute: dripping bytes do not extend it. While a body is
    /// sent: the longest that its source may have nothing, or the origin take nothing.
    public var headers: Duration = .seconds(30) { didSet { own.insert(.headers) } }
    /// A body slower than `stallBytesPerSecond` for this long has stalled; 30 s; nil switches it off. Of server-sent events,
    /// and of a sequence or lines without known length, any byte counts: only silence is a stall.
    public var stall: Duration? = .seconds(30) { didSet { own.insert(.stall) } }
    /// 100 bytes a second.
    public var stallBytesPerSecond = 100 { didSet { own.insert(.stallBytesPerSecond) } }
    /// The whole operation from its first start on, with its redirects, repetitions and the waits between them; time
    /// in the queue (unless the origin has asked for a pause) and under `pause()` does not count. 60 s; nil is no limit.
    /// Unless it is set, there is none for a body that goes to streams, or comes from a stream or a file.
    public var total: Duration? = .seconds(60) { didSet { own.insert(.total) } }
    /// A single attempt with its redirects, whether its body goes to streams or not; nil, the default, is no limit. The next
    /// attempt, if `retry` has one, begins anew; `total` bounds all of them.
    public var attempt: Duration? { didSet { own.insert(.attempt) } }
    /// A reader, a sink or a stream of this operation that takes nothing, and so keeps the body waiting on its way from the
    /// origin or the cache, for this long; nil, the default, is no limit. A disk, and another's stream of the same exchange,
    /// have the limit `stall` in any case.
    public var reader: Duration? { didSet { own.insert(.reader) } }
    /// Waiting for the first slot, and for an origin or an interface to be there; nil, the default, is no
    /// limit.
    public var queueDeadline: Duration? { didSet { own.insert(.queueDeadline) } }

    static let standard = Timeouts()

    private struct Limits: OptionSet, Hashable {
      let rawValue: UInt8
      static let connect = Limits(rawValue: 1)
      static let headers = Limits(rawValue: 2)
      static let stall = Limits(rawValue: 4)
      static let stallBytesPerSecond = Limits(rawValue: 8)
      static let total = Limits(rawValue: 16)
      static let reader = Limits(rawValue: 32)
      static let queueDeadline = Limits(rawValue: 64)
      static let attempt = Limits(rawValue: 128)
    }

    /// The limits that are set here, and the engine's for all others.
    func over(_ engine: Timeouts) -> Timeouts {
      if own.isEmpty { return engine }
      var limits = engine
      if own.contains(.connect) { limits.connect = connect }
      if own.contains(.headers) { limits.headers = headers }
      if own.contains(.stall) { limits.stall = stall }
      if own.contains(.stallBytesPerSecond) { limits.stallBytesPerSecond = stallBytesPerSecond }
      if own.contains(.total) { limits.total = total }
      if own.contains(.attempt) { limits.attempt = attempt }
      if own.contains(.reader) { limits.reader = reader }
      if own.contains(.queueDeadline) { limits.queueDeadline = queueDeadline }
      return limits
    }

    /// The same with the total that holds for a body that goes to streams, or comes from them.
    func forStreams(_ isStreamed: Bool) -> Timeouts {
      guard isStreamed, !own.contains(.total) else { return self }
      var limits = self
      limits.total = nil
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
      limits.attempt = Self.longest(attempt, other.attempt)
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
      if attempt.map({ $0 <= .zero }) ?? false { return "attempt" }
      if reader.map({ $0 <= .zero }) ?? false { return "reader" }
      if queueDeadline.map({ $0 <= .zero }) ?? false { return "queueDeadline" }
      return nil
    }
  }

  /// When a failed attempt is followed by another. Only idempotent methods and requests with an
  /// `idempotencyKey` are repeated, unless `attempts` names others.
  public struct Retry: Sendable, Hashable {
    /// Attempts in all, the first included.
    var attemptsMax: Int
    /// Seconds. The wait before attempt n + 1 is drawn evenly from 0 to `base * 2^(n - 1)`, at most `cap`: full
    /// jitter, which keeps clients that failed together from coming back together.
    var backoffBaseSeconds = 0.5
    var backoffCapSeconds: Double = 30
    /// Retry-After is a floor for the wait; a longer one is cut to this. Default 1 hour.
    var retryAfterSecondsMax: Double = 3600
    /// Repeats a first attempt at once that died with the reused connection it was sent on. The origin closed
    /// that connection while idle (RFC 9112 section 9.3.1); it is no sign of trouble.
    var repeatsOnDeadConnection = true
    /// The answers that are worth another attempt.
    var statuses = Self.transientStatuses
    var methods = Methods.safe
    /// Each status of 400 and more and each failure is worth another attempt.
    var repeatsAnyFailure = false
    /// The wait before each attempt, in place of the drawn one; nil, the default, draws it.
    var pause: Duration?

    /// Of a request: its engine's, whatever that is. Of an engine: as `.deadConnection`.
    public static let inherited = Self(attemptsMax: 0)
    /// Never repeated.
    public static let none = Self(attemptsMax: 1, repeatsOnDeadConnection: false)
    /// The default: one silent repeat when a reused connection turned out to be dead (RFC 9112 section 9.3.1).
    public static let deadConnection = Self(attemptsMax: 1)
    /// Three attempts with full-jitter backoff (0.5 s doubling, at most 30 s), `Retry-After` honoured up to an
    /// hour, and at most one request in ten repeated.
    public static let standard = Self(attemptsMax: 3)

    /// As `standard`, with other numbers.
    /// - Parameters:
    ///   - count: attempts in all.
    ///   - pause: the longest pause before the second of them; it doubles from attempt to attempt.
    ///   - pauseMax: no pause is longer.
    ///   - statuses: those of 400 and more that are worth another attempt.
    ///   - methods: those whose requests are repeated, and no others. One that is not idempotent, as `.post`, is sent again
    ///     after such a status, after a time-out, and when nothing of it was sent: the origin may get it twice. Nil, the
    ///     default: the idempotent ones (RFC 9110 section 9.2.2), and all with an `idempotencyKey`. The silent repeat of
    ///     `deadConnection` goes by these in any case.
    public static func attempts(
      _ count: Int, pause: Duration = .milliseconds(500), pauseMax: Duration = .seconds(30),
      statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504], methods: Set<Method>? = nil
    ) -> Self {
      var retry = Self(attemptsMax: max(1, count))
      retry.backoffBaseSeconds = max(leastPause.seconds, pause.seconds)
      retry.backoffCapSeconds = max(leastPause.seconds, pauseMax.seconds)
      retry.statuses = statuses
      if let methods { retry.methods = .only(methods) }
      return retry
    }

    func over(_ engine: Self) -> Self { attemptsMax == 0 ? engine : self }

    /// As a user asks for it by name.
    package static func attempts(_ count: Int, anyMethod: Bool, anyFailure: Bool, pause: Duration?) -> Self {
      var policy = attempts(count)
      if anyMethod { policy.methods = .any }
      (policy.repeatsAnyFailure, policy.pause) = (anyFailure, pause.map { max($0, leastPause) })
      return policy
    }

    /// After no pause at all comes the silent repeat, which is hidden from all who share an exchange.
    private static let leastPause = Duration.microseconds(1)

    /// 408, 425, 429, 500, 502, 503, 504.
    static let transientStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// The requests that are repeated, by their methods.
    enum Methods: Sendable, Hashable {
      /// What may safely be sent twice: the method says so, or a key.
      case safe
      /// A user has asked for it by name.
      case only(Set<Method>)
      case any
    }
  }

  /// Which redirects are followed (RFC 9110 section 15.4). Not from https to http, never in a cycle; to another
  /// origin only `Accept*`, `User-Agent`, `Range`, `If-Range` and the body's own fields go along.
  ///
  /// libcurl's own following stays off: it has no limit, goes to other schemes and carries custom credentials along.
  public struct Redirects: Sendable, Hashable {
    /// False: a 3xx is the answer.
    var follows = true
    /// The number that are followed; 10. The next one ends with `.tooManyRedirects`.
    public var limit = 10 { didSet { isInherited = false } }
    /// Lets https lead to http; false by default: `.redirectRefused` (`downgrade`).
    public var allowsDowngrade = false { didSet { isInherited = false } }
    /// Lets 307 and 308 send the body to another origin as well; false by default: `.redirectRefused`
    /// (`body`).
    public var resendsBodyAcrossOrigins = false { didSet { isInherited = false } }
    /// None of it has been set.
    var isInherited = false

    func over(_ engine: Self) -> Self { isInherited ? engine : self }

    /// Of a request: its engine's, whatever that is; with a member that is set it becomes `.standard` with that member. Of an
    /// engine: as `.standard`.
    public static let inherited = Self(isInherited: true)
    /// At most 10; a body is sent again only on 307 and 308 to the same origin.
    public static let standard = Self()
    /// None: a 3xx is the answer.
    public static let none = Self(follows: false)
    /// As `standard`, with another limit.
    public static func atMost(_ count: Int) -> Self { Self(limit: count) }
  }

  /// The urgency of an operation. Classes share by weight 2 : 5 : 10 : 20, so bulk work never starves and
  /// never delays what is urgent.
  public enum Priority: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    /// Bulk work: keeps at least 5 % of the slots.
    case low
    /// The default.
    case normal
    /// A user waits for it.
    case high
    /// Goes first.
    case urgent

    /// Compares the urgency.
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }
}
