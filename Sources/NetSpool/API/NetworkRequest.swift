/// What to send and how: a value. Copy it, change it, send it as often as you like.
public struct NetworkRequest: Sendable {
  var core: Request

  init(core: Request) { self.core = core }

  /// A request for an absolute http or https URL. One that is unusable fails with `.invalidURL` when enqueued.
  public init(
    url: String, method: HTTPMethod = .get, headers: HTTPHeaders = [:], body: Body = .none
  ) {
    core = Request(url: url, method: method.core)
    core.headers = headers.core
    self.body = body
  }

  /// The absolute URL. Spaces and non-ASCII letters in path and query are percent-encoded when it is sent;
  /// a fragment is not sent.
  public var url: String {
    get { core.url }
    set { core.url = newValue }
  }

  /// `GET` by default.
  public var method: HTTPMethod {
    get { HTTPMethod(core: core.method) }
    set { core.method = newValue.core }
  }

  /// The request's own fields; they win over the engine's.
  public var headers: HTTPHeaders {
    get { HTTPHeaders(core: core.headers) }
    set { core.headers = newValue.core }
  }

  /// Nothing by default.
  public var body: Body {
    get { core.hasExtras ? Body(core.extra.body) : .none }
    set {
      if case .none = newValue, !core.hasExtras { return }
      core.extra.body = newValue.core
    }
  }

  /// Ordered pairs that go to the query for GET, HEAD, DELETE and OPTIONS and to the body otherwise, when the
  /// operation is enqueued.
  public var parameters: Parameters {
    get { Parameters(core: core.hasExtras ? core.extra.parameters : []) }
    set {
      if newValue.count == 0 && !core.hasExtras { return }
      core.extra.parameters = newValue.core
    }
  }

  /// `.form` by default.
  public var parameterEncoding: ParameterEncoding {
    get { core.hasExtras && core.extra.sendsParametersAsJSON ? .json : .form }
    set { core.extra.sendsParametersAsJSON = newValue == .json }
  }

  /// The engine's when nil.
  public var timeouts: NetworkTimeouts? {
    get { core.hasExtras ? core.extra.timeouts.map { NetworkTimeouts(core: $0) } : nil }
    set { core.extra.timeouts = newValue?.core }
  }

  /// `.normal` by default.
  public var priority: OperationPriority {
    get { OperationPriority(core.priority) }
    set { core.priority = newValue.core }
  }

  /// The engine's when nil.
  public var retry: RequestRetry? {
    get { core.hasExtras ? core.extra.retry.map { RequestRetry(core: $0) } : nil }
    set { core.extra.retry = newValue?.core }
  }

  /// The engine's when nil.
  public var redirects: RequestRedirects? {
    get { core.hasExtras ? core.extra.redirects.map { RequestRedirects(core: $0) } : nil }
    set { core.extra.redirects = newValue?.core }
  }

  /// Who this request comes from; the engine's when nil. They go to the origin of `url` only: a redirect to another
  /// origin leaves them behind.
  public var credentials: NetworkCredentials? {
    get { core.credential.map(NetworkCredentials.init(core:)) }
    set {
      if newValue == nil && !core.hasExtras { return }
      core.extra.credential = newValue?.core
    }
  }

  /// Sent as `Idempotency-Key`, quoted, the same on every attempt; makes a POST repeatable.
  public var idempotencyKey: String? {
    get { core.hasExtras ? core.extra.idempotencyKey : nil }
    set { core.extra.idempotencyKey = newValue }
  }

  /// A name of your own, to cancel by.
  public var tag: String? {
    get { core.hasExtras ? core.extra.tag : nil }
    set { core.extra.tag = newValue }
  }

  /// The engine's when nil.
  public var cachePolicy: CachePolicy? {
    get { core.cachePolicy.map(CachePolicy.init) }
    set { core.cachePolicy = newValue?.core }
  }

  /// Seconds for which the stored answer counts as fresh, whatever it says itself; nil, the default, leaves it
  /// to the rules. `no-store` holds all the same.
  public var cacheLifetime: Double? {
    get { core.hasExtras ? core.extra.cacheLifetime : nil }
    set { core.extra.cacheLifetime = newValue }
  }

  /// Names whose answers these are: what is stored under one name is never served under another. Nil, the
  /// default, takes the engine's, or derives one from `Authorization` and `Cookie` that ends with the process.
  public var credentialScope: String? {
    get { core.hasExtras ? core.extra.credentialScope : nil }
    set { core.extra.credentialScope = newValue }
  }

  /// With `.cachedThenFresh`: whether the second completion is left out when the fresh body is byte for byte the
  /// cached one; false by default.
  public var notifiesOnlyChanges: Bool {
    get { core.hasExtras && core.extra.notifiesOnlyChanges }
    set { core.extra.notifiesOnlyChanges = newValue }
  }

  /// Equal GET and HEAD requests that are under way share one exchange; true by default.
  public var coalesces: Bool {
    get { core.coalesces }
    set { core.coalesces = newValue }
  }

  /// The request as a curl command for a shell, secrets masked.
  public var curlCommand: String { curlCommand(revealingSecrets: false) }

  /// The request as a curl command for a shell. With secrets it is as secret as they are.
  public func curlCommand(revealingSecrets: Bool) -> String {
    core.curlCommand(revealingSecrets: revealingSecrets)
  }
}

extension NetworkRequest: CustomStringConvertible, CustomReflectable {
  /// The curl command, secrets masked.
  public var description: String { curlCommand }

  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}
