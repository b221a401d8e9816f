/// What an operation remembers between its exchanges; made only when there is something to remember.
final class ExchangeState {
  /// The canonical URL of the next exchange.
  var url: String
  var method: Method
  var headers: Headers
  var keepsBody = true
  /// Cross-origin hops no longer get the engine's own headers.
  var isForeign = false
  var history: RedirectHistory?
  var attempts = 1
  /// What the exchanges so far, and the waits between them, have taken of the total.
  var spent: Microseconds = 0
  /// Since when it waits for its next slot.
  var waitingSince: Microseconds = 0
  /// When the first exchange began; 0: it has not.
  var firstStart: Microseconds = 0
  /// The next exchange follows one that died with its connection: the other idle ones are likely dead too.
  var needsFreshConnection = false
  /// The origin refused `Expect: 100-continue` with 417.
  var refusesExpect = false
  /// The user name and password of the URL.
  var credential: NetworkCredentials?
  /// What was done about a 401.
  var sent = AuthenticationDecision.Sent()
  /// Of what the provider gave; 0: nothing yet.
  var sentGeneration: UInt64 = 0
  /// The credential was not accepted, so the 401 is the end.
  var isRefused = false
  /// The 401 that the provider was asked about.
  var refusal: NetworkResponse?
  var askedAt: Microseconds = 0
  var queueDeadline: TimerTable.Key?
  /// Runs when its own total is shorter than that of the exchange it shares.
  var ownTotal: TimerTable.Key?
  /// Decided at the head, done at the end of the exchange.
  var next: Next?

  enum Next {
    case redirect(RedirectHop)
    case retry(after: Double)
    case withoutExpect
    /// The 304 was not about what is held: once more, and all of it.
    case unconditional
    /// The 401 has told how to answer.
    case authorized
    case ask(CredentialProvider)
    case fail(NetworkError)
  }

  init(_ request: NetworkRequest) {
    url = request.url
    method = request.method
    headers = request.headers
  }
}
