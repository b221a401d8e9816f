/// What an attempt tells about an origin.
enum OriginEvidence: Hashable, Sendable, CaseIterable {
  /// It gave an answer that a working origin gives.
  case answered
  /// A connection came about; nothing was asked.
  case connected
  /// Something answered in its place: 502, 503, 504.
  case unavailable
  /// Nobody listens.
  case refused
  /// Its name leads nowhere.
  case unresolved
  /// No connection came about in time, or the way to it is closed.
  case unreached
  /// It is not who it should be, or speaks no TLS that we do.
  case rejected
  /// It was connected, and no answer came in time.
  case silent
  /// It was connected, and the connection ended before an answer.
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

  private static func of(_ failure: NetworkError) -> OriginEvidence? {
    switch failure.code {
    case .resolveFailed: .unresolved
    case .connectFailed: failure.reason == "unreachable" ? .unreached : .refused
    case .proxyFailed: .unreached
    case .timedOut:
      failure.reason == "connect" ? .unreached : failure.reason == "queueDeadline" ? nil : .silent
    case .tlsRejected: .rejected
    case .connectionLost, .transportFailed, .http2Failed: .lost
    case _ where failure.sendState == .answered: .answered
    default: nil
    }
  }
}
