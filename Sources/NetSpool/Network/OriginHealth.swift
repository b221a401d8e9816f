/// The health of an origin, judged by its attempts: evidence goes in, a state comes out.
///
/// - **Down**: the first attempt that brings about no connection, or the third in a row within 10 seconds of an
///   answer; or three connections in a row that bring no answer. It stays down until one is brought about.
/// - **Degraded**: a quarter of the last 16 attempts went wrong, until no more than an eighth did or an answer came
///   five seconds after the last that went wrong; also after it was silent, until it answers.
///
/// Times are microseconds of a clock that does not go back.
struct OriginHealth: Sendable {
  enum State: Hashable, Sendable { case reachable, degraded, down }

  static let failuresToDown = 3
  static let recent: Int64 = 10_000_000
  static let quiet: Int64 = 5_000_000
  private static let remembered = 16

  private var isDown = false
  private var isDegraded = false
  /// True when a connection succeeded without an answer: then only an answer shows that the origin works.
  private var needsAnswer = false
  /// Failures in a row, and whether any of them had a connection.
  private var streak = 0
  private var hadConnection = false
  /// The last outcomes, newest in the lowest bit; 1 went wrong.
  private var outcomes: UInt16 = 0
  private var outcomesKnown = 0
  private var lastAnswer: Int64?
  private var lastFailure: Int64?

  var state: State { isDown ? .down : isDegraded || needsAnswer ? .degraded : .reachable }

  /// Without traffic the engine would not find out how the origin is.
  var wantsProbe: Bool { isDown || streak > 0 }

  mutating func note(_ evidence: OriginEvidence, now: Int64) {
    switch evidence {
    case .answered: answered(now)
    case .connected: connected()
    case .unavailable: unavailable(now)
    default: failed(evidence, now)
    }
  }

  private mutating func answered(_ now: Int64) {
    if isDown || needsAnswer { self = OriginHealth() }
    (lastAnswer, streak, hadConnection) = (now, 0, false)
    push(failed: false)
    let isQuiet = lastFailure.map { now - $0 >= Self.quiet } ?? true
    if isDegraded, isQuiet || failures * 8 <= outcomesKnown { isDegraded = false }
  }

  /// A probe's: it counts only against what a connection disproves.
  private mutating func connected() {
    guard isDown || streak > 0 else { return }
    let (wasDown, wasSilent) = (isDown, hadConnection)
    (streak, hadConnection, isDown) = (0, false, false)
    if wasSilent {
      needsAnswer = needsAnswer || wasDown
    } else if wasDown {
      self = OriginHealth()
    }
  }

  /// The server answered, so it is not down; what is behind it does not work.
  private mutating func unavailable(_ now: Int64) {
    if isDown { needsAnswer = true }
    (isDown, streak, hadConnection) = (false, 0, false)
    (lastAnswer, lastFailure) = (now, now)
    push(failed: true)
  }

  private mutating func failed(_ evidence: OriginEvidence, _ now: Int64) {
    streak += 1
    lastFailure = now
    if !evidence.isBeforeConnection { hadConnection = true }
    push(failed: true)
    let hasAnswered = lastAnswer.map { now - $0 < Self.recent } ?? false
    let enough = evidence.isBeforeConnection && !hasAnswered ? 1 : Self.failuresToDown
    if streak >= enough { isDown = true }
  }

  private mutating func push(failed: Bool) {
    outcomes = outcomes << 1 | (failed ? 1 : 0)
    outcomesKnown = min(outcomesKnown + 1, Self.remembered)
    if failed, failures * 4 >= outcomesKnown { isDegraded = true }
  }

  private var failures: Int { outcomes.nonzeroBitCount }
}

/// What an attempt tells about an origin.
enum OriginEvidence: Hashable, Sendable, CaseIterable {
  /// The origin gave an answer that a working origin gives.
  case answered
  /// A connection came about; nothing was asked.
  case connected
  /// Something answered in its place: 502, 503, 504.
  case unavailable
  /// No server listens.
  case refused
  /// The origin's name leads nowhere.
  case unresolved
  /// No connection came about in time, or the way to it is closed.
  case unreached
  /// The origin is not who it should be, or speaks no TLS that we do.
  case rejected
  /// A connection was made, and no answer came in time.
  case silent
  /// A connection was made, and it ended before an answer.
  case lost

  /// Nothing was connected, so a connection is proof enough that it is back.
  var isBeforeConnection: Bool {
    switch self {
    case .refused, .unresolved, .unreached, .rejected: true
    default: false
    }
  }

  /// - Parameters:
  ///   - status: of the answer, if there was one.
  ///   - failure: why the attempt failed, if it did.
  /// Nil when it says nothing about the origin: we ended it, or our disk did, or there was no network.
  init?(status: Int?, failure: NetworkError?) {
    if let status {
      self = (502...504).contains(status) ? .unavailable : .answered
      return
    }
    guard let failure, let evidence = Self.of(failure) else { return nil }
    self = evidence
  }

  /// A look that brought about no connection. It shows no certificate, which belongs to the requests: an origin that
  /// refuses the handshake for want of one is there, and whether it takes ours only an attempt can tell. So it is where a
  /// rule of its engine forbids to go there.
  init?(lookFailure failure: NetworkError) {
    let isRefused = failure.cause == .clientCertificate || failure.cause == .protocol
    if failure.code == .egressDenied || failure.code == .tlsRejected && isRefused {
      self = .connected
    } else {
      self.init(status: nil, failure: failure)
    }
  }

  private static func of(_ failure: NetworkError) -> OriginEvidence? {
    switch failure.code.stage {
    case .name: .unresolved
    case .connection: failure.cause == .unreachable ? .unreached : .refused
    case .proxy: .unreached
    case .handshake: .rejected
    case .line: .lost
    case .time:
      switch failure.cause {
      case .connect: .unreached
      case .queueDeadline, .reader, .sink: nil
      default: .silent
      }
    case .route, .elsewhere: failure.sendState == .answered ? .answered : nil
    }
  }
}

/// When an origin is looked at again: after half a second to one, then twice as long each time, up to half a
/// minute. The half that is left to chance keeps clients that lost an origin together from coming back together.
struct ProbeBackoff: Sendable, Equatable {
  static let spanMin = 1.0
  static let spanMax = 30.0

  private var failed = 0

  /// Seconds until the next look.
  /// - Parameter random: evenly distributed in 0..<1.
  func delay(random: Double) -> Double {
    let span = min(Self.spanMax, Self.spanMin * Double(1 << min(failed, 16)))
    return span / 2 + random * span / 2
  }

  mutating func didFail() { failed = min(failed + 1, 16) }
  mutating func reset() { failed = 0 }
}

extension NetworkEngine.Reachability {
  /// - Parameters:
  ///   - needsRoute: false for an origin on this machine.
  ///   - health: nil when there is no one origin to ask about.
  init(_ link: LinkState, needsRoute: Bool, health: OriginHealth.State?) {
    if needsRoute, !link.isRouted {
      self = .noRoute
      return
    }
    self =
      switch health {
      case .down: .originDown
      case .degraded: .degraded
      case .reachable, nil: .reachable
      }
  }

  /// An attempt may well succeed.
  var maySend: Bool { self == .reachable || self == .degraded }
}
