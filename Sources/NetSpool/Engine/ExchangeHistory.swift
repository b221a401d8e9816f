/// What an operation remembers from one exchange to the next; made only when there is something to remember, because a
/// million plain requests have none of it. What one attempt needs is its `Exchange`.
final class ExchangeHistory {
  /// What the next exchange asks for: assigned whole by a redirect.
  struct Target {
    /// Canonical.
    var url: String
    var method: Method
    var headers: Headers
    var keepsBody = true
    /// Cross-origin hops no longer get the engine's own headers.
    var isForeign = false
  }

  /// How the credential and the origin's challenges stand.
  struct Authentication {
    /// The user name and password of the URL.
    var credential: NetworkCredentials?
    /// What was done about a 401.
    var sent = AuthenticationDecision.Sent()
    /// Of what the provider gave; 0: nothing yet.
    var generation: UInt64 = 0
    /// The credential was not accepted, so the 401 is the end.
    var isRefused = false
    /// The 401 that the provider was asked about, and when.
    var refusal: NetworkResponse?
    var askedAt: Microseconds = 0
  }

  var target: Target
  var redirects: RedirectHistory?
  var authentication = Authentication()
  /// Exchanges begun that were to bring the answer.
  var attempts = 1
  /// The number of them that a policy counts: what follows a wait for the origin uses none up.
  private(set) var countedAttempts = 1
  /// What the exchanges so far, and the waits between them, have taken of the total.
  var spent: Microseconds = 0
  /// How much of it the attempts before this one have taken.
  var spentBefore: Microseconds = 0
  /// The next attempt begins no sooner.
  private var notBefore: Microseconds = 0
  /// How far the bodies of earlier attempts had come when that was told: who looks on sees nothing go back.
  var delivered: (received: Int64, sent: Int64) = (0, 0)
  /// The time that it has waited for names.
  var lookupTime: Microseconds = 0
  /// Since when it waits for its next slot.
  var waitingSince: Microseconds = 0
  /// When the first exchange began; 0: it has not.
  var firstStart: Microseconds = 0
  /// The origin may have acted upon an exchange before the next, whatever becomes of that.
  var mayHaveActed = false
  /// The next exchange follows one that died with its connection: the other idle ones are likely dead too.
  var needsFreshConnection = false
  /// Its answer is too long to come on a connection that others use (`ReadAhead`).
  var needsOwnConnection = false
  /// The origin refused `Expect: 100-continue` with 417.
  var refusesExpect = false
  /// How many addresses were given up for the connection that is being made, and what they, its name and its
  /// authorities took of its limit.
  var connecting: (addresses: Int, spent: Microseconds) = (0, 0)
  var queueDeadline: TimerTable.Key?
  /// Runs when its own total is shorter than that of the exchange it shares.
  var ownTotal: TimerTable.Key?
  var ownTotalEnds: Microseconds = 0
  /// What is left of its total while its user pauses it, and others have its exchange.
  var ownTotalLeft: Microseconds?

  init(_ request: NetworkRequest) {
    target = Target(url: request.url, method: request.method, headers: request.headers)
  }

  /// Another attempt follows; a policy has asked for it, or it has only waited for its origin.
  func beginAttempt(isAsked: Bool) {
    attempts += 1
    if isAsked { countedAttempts += 1 }
    spentBefore = spent
    connecting = (0, 0)
  }

  /// The next attempt comes after so long, which is part of the total and not of its own limit.
  func pauseAttempts(for time: Microseconds) {
    notBefore = MonotonicClock.now + time
    spent += time
    spentBefore = spent
  }

  /// Its user pauses it in such a wait, or while a provider is asked: what is left of the wait has not been spent.
  func interrupt(_ wait: Wait) {
    let now = MonotonicClock.now
    switch wait.reason {
    case .delay:
      spent -= max(0, notBefore - now)
      spentBefore = spent
    case .credentials: spent += now - authentication.askedAt
    default: break
    }
  }

  /// How much sooner than it should it would come, in seconds.
  var secondsTooSoon: Double { Double(max(0, notBefore - MonotonicClock.now)) / 1e6 }

  /// What is asked for is what the request says, whatever else there is to remember.
  func asksWhatItSays(_ request: NetworkRequest) -> Bool {
    redirects == nil && authentication.credential == nil && target.url == request.url
  }

  /// Where a redirecting answer leads; throws why it is not followed.
  func hop(
    to location: String, status: Int, _ request: NetworkRequest, _ policy: NetworkRequest.Redirects,
    setsCookie: Bool = false
  ) throws(NetworkError) -> RedirectHop {
    let current = try URLParser.parse(target.url).pieces
    let next = try Self.resolve(location, against: target.url)
    let history = redirects ?? RedirectHistory(method: target.method, url: current)
    redirects = history
    let hop = try RedirectDecision.hop(
      status: status, method: target.method, hasBody: request.hasBody && target.keepsBody, from: current,
      to: next, history: history, policy: policy, setsCookie: setsCookie)
    if hop.keepsBody, !request.prepared.canReplay { throw RedirectDecision.refused(.body, status) }
    return hop
  }

  private static func resolve(_ location: String, against base: String) throws(NetworkError) -> URLPieces {
    do throws(NetworkError) {
      return try URLParser.parse(location, relativeTo: base).pieces
    } catch {
      if error.cause == .scheme { throw NetworkError(.redirectRefused, cause: .scheme, sendState: .answered) }
      throw NetworkError(.badLocation, reason: error.reason, sendState: .answered)
    }
  }

  /// The next exchange goes where a hop leads. `defaults` are the engine's fields, which go no further than its origin.
  func follow(_ hop: RedirectHop, defaults: Headers) {
    redirects?.append(method: hop.method, url: hop.url)
    let leavesHome = !hop.isSameOrigin && !target.isForeign
    let own = target.headers
    let fields = leavesHome ? defaults.keeping { !own.contains($0.name) } + own : own
    target = Target(
      url: hop.url.text, method: hop.method, headers: hop.keptFields(of: fields),
      keepsBody: target.keepsBody && hop.keepsBody, isForeign: target.isForeign || leavesHome)
    authentication.sent.beginAnew()
  }
}

extension NetworkOperation {
  /// Loop thread: what is sent has an idempotency key, which stays behind where a redirect leads to another origin.
  var isKeyed: Bool { sent.idempotencyKey != nil && loop.history?.target.isForeign != true }

  /// Loop thread: an exchange is over, and another or something else follows that may fail.
  func noteSent(_ transfer: Transfer, _ failure: NetworkError?) {
    if transfer.exchange.plan.method.isSafe || transfer.exchange.isUnprocessed { return }
    if transfer.exchange.head != nil || failure.map({ $0.sendState != .notSent }) ?? false {
      makeHistory().mayHaveActed = true
    }
  }

  /// Loop thread: where it is remembered what the next exchange needs.
  func makeHistory() -> ExchangeHistory {
    if let history = loop.history { return history }
    let history = ExchangeHistory(request)
    loop.history = history
    return history
  }
}

extension NetworkRequest {
  var hasBody: Bool { if case .none = prepared { false } else { true } }

  /// It asks for the rest of a body.
  var isForRest: Bool { hasExtras && extra.resumes }
}
