/// Which credential goes with an exchange and as what fields, and what a 401 leads to. It owns no operation: what it has
/// learned of an origin stands in `Origin.answers`, what it has done for one operation in its `ExchangeState`. Loop thread.
struct Authenticator {
  private var random = SystemRandomNumberGenerator()

  /// Whose exchange the next one is; nil: nobody's. What has been led to another origin stays without, also when
  /// it is led back.
  func credential(of operation: NetworkOperation, _ request: NetworkRequest) -> NetworkCredentials? {
    let exchangeState = operation.loop.exchangeState
    if exchangeState?.isForeign == true { return nil }
    let own = request.credentials ?? exchangeState?.credential
    guard let engine = operation.engine.credential, engine.origin == operation.loop.origin?.text else {
      return own
    }
    return own?.over(engine.credential) ?? engine.credential
  }

  /// The fields that it puts into the next exchange, besides `own`, which win.
  ///
  /// Throws `invalidConfiguration` for what must not go over plain HTTP.
  mutating func authorization(
    _ credential: NetworkCredentials, _ operation: NetworkOperation, _ request: NetworkRequest,
    _ plan: Transfer.Plan,
    own: Headers
  ) throws(NetworkError) -> Headers {
    guard let scheme = credential.scheme, let origin = operation.loop.origin else { return Headers() }
    let fields: Headers
    if case .provider(let provider) = scheme {
      let held = provider.held(for: origin.text)
      if held.generation > 0 { operation.makeExchangeState().sentGeneration = held.generation }
      guard let given = held.credential, let scheme = given.scheme else { return Headers() }
      fields = self.fields(scheme, given.id, at: origin, request, plan)
    } else {
      fields = self.fields(scheme, credential.id, at: origin, request, plan)
    }
    try refuseInClear(fields, at: origin, operation.engine, isCredential: true)
    // What others have learned meanwhile says nothing about what this request carried when it was refused.
    if fields.isBasic { operation.makeExchangeState().sent.basic = true }
    return own.count == 0 ? fields : fields.without(namesOf: own)
  }

  private mutating func fields(
    _ scheme: NetworkCredentials.Scheme, _ id: UInt64, at origin: Origin, _ request: NetworkRequest,
    _ plan: Transfer.Plan
  ) -> Headers {
    switch scheme {
    case .basic(let user, let password, true): return .basic(user, password)
    case .bearer(let token): return .authorization("Bearer \(token.revealed)")
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

  private mutating func digest(
    _ user: String, _ password: Secret, _ id: UInt64, at origin: Origin, _ request: NetworkRequest,
    _ plan: Transfer.Plan
  ) -> Headers {
    guard let (challenge, count) = origin.answers.nextDigest(for: id) else { return Headers() }
    let nonce = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
    var answer = DigestAnswer(
      challenge, user: user, password: password.revealed, method: plan.method.name,
      target: String(decoding: plan.url.utf8.dropFirst(plan.targetOffset), as: UTF8.self), count: count,
      clientNonce: Hexadecimal.text(nonce))
    if plan.source != nil, case .bytes(let bytes) = request.extra.prepared { answer.body = bytes }
    return .authorization(answer.value)
  }

  /// What anybody on the way can read and use again goes over plain HTTP only to this machine, or when it is
  /// allowed (RFC 7617 section 4, RFC 6750 section 5.3).
  func refuseInClear(
    _ fields: Headers, at origin: Origin, _ engine: NetworkEngine, isCredential: Bool = false
  ) throws(NetworkError) {
    guard !origin.isSecure, !engine.configuration.allowsCredentialsInClear, fields.count > 0 else { return }
    // A proxy's `localhost` is not ours.
    if origin.isLoopback, engine.handleSettings.plainProxy == nil { return }
    let isReusable: Bool
    if let value = fields.first("Authorization")?.lowercased() {
      isReusable = value.hasPrefix("basic ") || value.hasPrefix("bearer ")
    } else {
      isReusable = isCredential
    }
    if isReusable { throw NetworkError(.invalidConfiguration, reason: "allowsCredentialsInClear") }
  }
}

extension Headers {
  fileprivate func without(namesOf own: Headers) -> Headers {
    var kept = Headers()
    for field in self where !own.contains(field.name) {
      kept.append(name: field.nameBytes, value: field.valueBytes)
    }
    return kept
  }

  fileprivate var isBasic: Bool { first("Authorization")?.hasPrefix("Basic ") == true }

  fileprivate static func authorization(_ value: String) -> Headers {
    var fields = Headers()
    fields.append(name: "Authorization", value: value)
    return fields
  }

  fileprivate static func basic(_ user: String, _ password: Secret) -> Headers {
    authorization("Basic " + Base64.encode(Array("\(user):\(password.revealed)".utf8)))
  }
}
