/// Which credential goes with an exchange and as what fields, and what a 401 leads to. It owns no operation: what it has
/// learned of an origin stands in `Origin.answers`, what it has done for one operation in its `ExchangeHistory`. Loop thread.
struct Authenticator {
  /// Returns the account of the next exchange; nil: none. What has been led to another origin stays without, also when
  /// it is led back.
  func credential(of operation: NetworkOperation, _ request: NetworkRequest) -> NetworkCredentials? {
    let history = operation.loop.history
    if history == nil, request.credentials == nil, operation.engine.credential == nil { return nil }
    if history?.target.isForeign == true { return nil }
    let own = operation.account(request)
    guard let engine = operation.engine.credential, engine.origin == operation.loop.origin?.text else {
      return own
    }
    return own?.over(engine.credential) ?? engine.credential
  }

  /// The fields that it puts into the next exchange, besides `own`, which win.
  ///
  /// Throws `invalidConfiguration` for what must not go over plain HTTP.
  func authorization(
    _ credential: NetworkCredentials, _ operation: NetworkOperation, _ request: NetworkRequest,
    _ plan: Exchange.Plan, own: Headers
  ) throws(NetworkError) -> Headers {
    guard var scheme = credential.scheme, let origin = operation.loop.origin else { return Headers() }
    var account = credential
    if case .provider(let provider) = scheme {
      let held = provider.held(for: origin.text)
      if held.generation > 0 { operation.makeHistory().authentication.generation = held.generation }
      guard let given = held.credential, let kind = given.scheme else { return Headers() }
      (account, scheme) = (given, kind)
    }
    let fields = self.fields(scheme, operation.place(of: account), at: origin, request, plan, own)
    let isVerbatim = if case .fields = scheme { true } else { false }
    try refuseInClear(fields, at: origin, operation.engine, isCredential: true, isVerbatim: isVerbatim)
    // What others have learned meanwhile says nothing about what this request carried when it was refused.
    if fields.isBasic { operation.makeHistory().authentication.sent.basic = true }
    return own.count == 0 ? fields : fields.keeping { !own.contains($0.name) }
  }

  private func fields(
    _ scheme: NetworkCredentials.Scheme, _ id: UInt64, at origin: Origin, _ request: NetworkRequest,
    _ plan: Exchange.Plan, _ own: Headers
  ) -> Headers {
    switch scheme {
    case .aws(let account): return account.sign(request, plan, own, for: origin)
    case .basic(let user, let password, true): return .basic(user, password)
    case .bearer(let token): return .authorization("Bearer \(token.revealed)".utf8)
    case .fields(let fields): return fields
    case .basic(let user, let password, false):
      if case .basic = origin.answers[id] { return .basic(user, password) }
    case .password(let user, let password):
      if case .basic = origin.answers[id] { return .basic(user, password) }
      return digest(user, password, id, at: origin, request, plan)
    case .digest(let user, let password): return digest(user, password, id, at: origin, request, plan)
    case .ntlm, .provider: break
    }
    return Headers()
  }

  private func digest(
    _ user: String, _ password: Secret, _ id: UInt64, at origin: Origin, _ request: NetworkRequest,
    _ plan: Exchange.Plan
  ) -> Headers {
    guard let (challenge, count) = origin.answers.nextDigest(for: id) else { return Headers() }
    let nonce = (0..<16).map { _ in UInt8.random(in: 0...255) }
    var answer = DigestAnswer(
      challenge: challenge, user: user, password: password.revealed, method: plan.method.name,
      target: String(decoding: plan.url.utf8.dropFirst(plan.targetOffset), as: UTF8.self), count: count,
      clientNonce: Hexadecimal.text(nonce))
    if plan.source != nil, case .bytes(let bytes) = request.extra.prepared { answer.body = bytes }
    return .authorization(answer.value)
  }

  /// What anybody on the way can read and use again goes over plain HTTP only to this machine, or when it is
  /// allowed (RFC 7617 section 4, RFC 6750 section 5.3).
  func refuseInClear(
    _ fields: Headers, at origin: Origin, _ engine: NetworkEngine, isCredential: Bool = false,
    isVerbatim: Bool = false
  ) throws(NetworkError) {
    guard !origin.isSecure, !engine.configuration.allowsCredentialsInClear, fields.count > 0 else { return }
    // A proxy's `localhost` is not ours.
    let way = engine.handleSettings.way
    let isNear = way.isDirect ? origin.isLoopback : way.isLoopback(origin.pieces)
    if isNear, engine.handleSettings.proxy(for: origin.pieces) == nil { return }
    let isReusable: Bool
    if let value = fields.first("Authorization")?.lowercased() {
      isReusable = isVerbatim || !Self.isProof(value)
    } else {
      isReusable = isCredential
    }
    if isReusable { throw NetworkError(.invalidConfiguration, cause: .allowsCredentialsInClear) }
  }

  /// It shows a proof for this request, and not what that is made with.
  private static func isProof(_ value: String) -> Bool {
    signing.contains { value.hasPrefix($0) }
      || value.hasPrefix("oauth ") && value.contains("oauth_signature=")
  }

  private static let signing = ["digest ", "ntlm ", "negotiate ", "aws ", "aws4-", "hawk ", "signature "]
}

extension Headers {
  fileprivate var isBasic: Bool { first("Authorization")?.hasPrefix("Basic ") == true }

  fileprivate static func authorization(_ value: some Collection<UInt8>) -> Headers {
    var fields = Headers()
    fields.append(name: "Authorization".utf8, value: value)
    return fields
  }

  fileprivate static func basic(_ user: String, _ password: Secret) -> Headers {
    authorization(("Basic " + Base64.encode(Array("\(user):\(password.revealed)".utf8))).utf8)
  }
}

/// What a 401 leads to: another exchange with an answer to its challenge, a question to the provider, or the end.
extension Authenticator {
  /// Decided at the head, in the middle of libcurl's work; nil: the 401 is the answer.
  func challenged(_ operation: NetworkOperation, _ head: ResponseHead) -> Exchange.Next? {
    let request = operation.sent
    guard let credential = credential(of: operation, request), let scheme = credential.scheme,
      let origin = operation.loop.origin, !hasOwnAuthorization(operation, request)
    else { return nil }
    let history = operation.makeHistory()
    history.authentication.isRefused = true
    guard history.target.keepsBody == false || request.prepared.canReplay else { return nil }
    let challenges = AuthenticationChallenge.all(in: head.headers)
    if case .provider(let provider) = scheme {
      return next(provider, challenges, operation, history, origin, request)
    }
    return next(scheme, operation.place(of: credential), challenges, history, origin, request)
  }

  private func hasOwnAuthorization(_ operation: NetworkOperation, _ request: NetworkRequest) -> Bool {
    (operation.loop.history?.target.headers ?? request.headers).contains("Authorization")
      || operation.engine.headers.contains("Authorization")
  }

  private func next(
    _ provider: CredentialProvider, _ challenges: [AuthenticationChallenge], _ operation: NetworkOperation,
    _ history: ExchangeHistory, _ origin: Origin, _ request: NetworkRequest
  ) -> Exchange.Next? {
    // What it gave may be of a kind that waits for a challenge.
    if let given = provider.held(for: origin.text).credential, let scheme = given.scheme,
      let next = next(scheme, operation.place(of: given), challenges, history, origin, request)
    {
      return next
    }
    guard !history.authentication.sent.asked else { return nil }
    history.authentication.sent.asked = true
    history.authentication.isRefused = false
    return .ask(provider)
  }

  private func next(
    _ scheme: NetworkCredentials.Scheme, _ id: UInt64, _ challenges: [AuthenticationChallenge],
    _ history: ExchangeHistory, _ origin: Origin, _ request: NetworkRequest
  ) -> Exchange.Next? {
    switch AuthenticationDecision.make(scheme, challenges: challenges, sent: history.authentication.sent) {
    case .refused, .ask:
      origin.answers.remember(nil, for: id)
      return nil
    case .basic: origin.answers.remember(.basic, for: id)
    case .digest(let challenge):
      // A body that can be put into a digest: in memory, or none.
      guard challenge.protection != .integrity || !history.target.keepsBody || !request.streamsBody else {
        return nil
      }
      origin.answers.remember(.digest(challenge, count: 0), for: id)
    }
    history.authentication.sent.rounds += 1
    history.authentication.isRefused = false
    return .authorized
  }

  /// The error that a refused credential ends with.
  func refusal(_ operation: NetworkOperation, _ answer: NetworkResponse) -> NetworkError? {
    guard answer.source == .network else { return nil }
    if answer.head.status == 407, let origin = operation.loop.origin,
      operation.engine.handleSettings.proxy(for: origin.pieces) != nil
    {
      var failure = NetworkError(
        .proxyFailed, cause: .authentication, underlying: .http(407), sendState: .answered)
      failure.response = answer
      return failure
    }
    guard answer.head.status == 401, let history = operation.loop.history, history.authentication.isRefused
    else { return nil }
    return Self.failure(rounds: history.authentication.sent.rounds, answer)
  }

  static func failure(rounds: Int, _ answer: NetworkResponse) -> NetworkError {
    var failure = NetworkError(
      .authenticationFailed,
      reason: rounds > 0 ? "after \(rounds) of \(AuthenticationDecision.roundsMax) rounds" : nil,
      underlying: .http(answer.head.status), sendState: .answered)
    failure.response = answer
    return failure
  }
}

/// What one origin has told about how each credential is to be sent, so that only the first request of many is
/// refused.
struct AuthenticationAnswers {
  enum Answer {
    case basic
    /// The nonce has served so many requests.
    case digest(DigestChallenge, count: UInt32)
  }

  /// Credentials remembered; then the origin is asked anew. Per-request credentials may be many.
  private static let countMax = 64

  private var byCredential: [UInt64: Answer] = [:]

  subscript(_ credential: UInt64) -> Answer? { byCredential[credential] }

  mutating func remember(_ answer: Answer?, for credential: UInt64) {
    if byCredential.count >= Self.countMax, byCredential[credential] == nil { byCredential = [:] }
    byCredential[credential] = answer
  }

  /// The challenge to answer, with the number of this request.
  mutating func nextDigest(for credential: UInt64) -> (challenge: DigestChallenge, count: UInt32)? {
    guard case .digest(let challenge, let count) = byCredential[credential], count < .max else { return nil }
    byCredential[credential] = .digest(challenge, count: count + 1)
    return (challenge, count + 1)
  }
}

/// An engine's credential, and the only origin that it goes to.
struct EngineCredential: Sendable {
  let credential: NetworkCredentials
  /// `scheme://host[:port]`, canonical.
  let origin: String

  /// The origin, `scheme://host[:port]`, is the one that it goes to.
  func belongs(to origin: Span<UInt8>) -> Bool {
    let own = self.origin.utf8.span
    return own.count == origin.count && own.indices.allSatisfy { own[$0] == origin[$0] }
  }

  /// The credential, if a request goes where it belongs.
  func credential(for request: NetworkRequest) -> NetworkCredentials? {
    guard let parsed = try? URLParser.parse(request.url), parsed.pieces.origin.text == origin else {
      return nil
    }
    return credential
  }
}

extension NetworkOperation {
  /// The account that the request itself names: its own, else the user in its URL.
  func account(_ request: NetworkRequest) -> NetworkCredentials? {
    request.credentials ?? loop.history?.authentication.credential
  }

  /// Where it is known what the origin asks of a credential: what one server has asked, another is not told.
  fileprivate func place(of credential: NetworkCredentials) -> UInt64 { credential.id ^ engine.reach.number }
}

/// A provider of credentials is asked, and its answer awaited.
extension Authenticator {
  /// A provider that has not answered after this is not waited for; 60 s.
  static let providerMillisecondsMax = UInt64(CredentialProvider.patience / 1000)

  func ask(_ provider: CredentialProvider, for operation: NetworkOperation) -> Step {
    guard let origin = operation.loop.origin, let history = operation.loop.history,
      let refusal = history.authentication.refusal
    else { return .done }
    history.authentication.askedAt = MonotonicClock.now
    let left = operation.secondsLeft(operation.sent, nil)
    let isLast = left * 1000 < Double(Self.providerMillisecondsMax)
    let milliseconds = isLast ? UInt64(max(0, left * 1000)) : Self.providerMillisecondsMax
    let late = NetworkError(.authenticationFailed, cause: .provider, reason: "the provider took over 60 s")
    let failure = isLast ? NetworkError(.timedOut, cause: .total) : late
    let question = NetworkCredentials.Refusal(
      url: history.target.url, method: history.target.method, response: refusal)
    provider.renew(history.authentication.generation, for: origin.text, question) { result in
      operation.perform { _ in
        guard let wait = operation.currentWait, case .credentials = wait.reason else { return }
        wait.goOn(with: .renewed(result))
      }
    }
    return .wait(Wait(.credentials, then: .renewed(.failure(failure)), atMost: milliseconds))
  }

  /// The provider whose answer it was waiting for when it was paused.
  func provider(awaitedBy operation: NetworkOperation) -> CredentialProvider? {
    guard operation.loop.history?.authentication.refusal != nil,
      case .provider(let provider)? = credential(of: operation, operation.sent)?.scheme
    else { return nil }
    return provider
  }

  func renewed(
    _ operation: NetworkOperation, _ result: Result<CredentialProvider.Held, NetworkError>
  ) -> Step {
    guard let history = operation.loop.history, let refusal = history.authentication.refusal else {
      return .done
    }
    history.authentication.refusal = nil
    history.spent += MonotonicClock.now - history.authentication.askedAt
    switch result {
    case .success(let held) where held.credential != nil:
      history.authentication.sent.beginAnew()  // another account
      return .again(after: 0)
    case .success: return .fail(Self.failure(rounds: 0, refusal))
    case .failure(var failure):
      // One that throws this by itself refuses.
      failure.isOfProvider = failure.code != .authenticationFailed || failure.cause == .provider
      failure.response = refusal
      return .fail(failure)
    }
  }
}
