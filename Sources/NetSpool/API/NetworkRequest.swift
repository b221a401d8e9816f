/// A request: a value. Copy it, change it, send it as often as you like.
public struct NetworkRequest: Sendable {
  /// The absolute URL; of a request for a path the path alone, until an engine makes an operation of it. Spaces and
  /// non-ASCII letters in path and query are percent-encoded when it is sent; a fragment is not sent.
  public var url: String
  /// `GET` by default.
  public var method: Method
  /// The request's own fields; they win over the engine's.
  public var headers: Headers
  /// `.normal` by default.
  public var priority: Priority = .normal
  /// Equal GET and HEAD requests that are under way share one exchange; true by default. Each keeps its own `total` and its
  /// own retries; connect, headers, stall and attempt are the longest that any of them has.
  public var coalesces = true
  /// Keeps the request on disk until the origin has answered: written before its first byte leaves, and sent
  /// again after a dead link, a dead server, a crash or a restart. False by default; ignored for GET, HEAD,
  /// OPTIONS and TRACE, which change nothing. See <doc:Freezing>.
  public var isFreezable = false
  /// `url` is a path of the engine that sends it.
  var isRelative = false
  /// The engine's when nil. Without a cache it has no meaning, except that `.onlyIfCached` finds nothing.
  public var cachePolicy: CachePolicy?
  /// The settings that most requests leave alone share one box, so that a queued GET stays small. An array of none or
  /// one is the standard library's own copy-on-write box.
  private var extras: [RequestExtras] = []

  /// A request for an absolute http or https URL. One that is unusable fails with `.invalidURL` when enqueued. Without a method
  /// it is a GET, and with a body a POST.
  public init(url: String, method: Method? = nil, headers: Headers = [:], body: Body = .none) {
    self.url = url
    self.headers = headers
    if case .none = body {
      self.method = method ?? .get
    } else {
      self.method = method ?? .post
      extra.body = body
    }
  }

  /// A request for a path of the host of whatever engine sends it. The two are joined as `engine.operation(path:)` joins them.
  public init(path: String, method: Method? = nil, headers: Headers = [:], body: Body = .none) {
    self.init(url: path, method: method, headers: headers, body: body)
    isRelative = true
  }

  var hasExtras: Bool { !extras.isEmpty }

  var extra: RequestExtras {
    // Lent: a copy of all of them costs more than most of what is done with one.
    _read { if extras.isEmpty { yield.standard } else { yield extras[0] } }
    _modify {
      if extras.isEmpty { extras.append(.standard) }
      yield &extras[0]
    }
  }

  /// The body as it will be sent, made when the operation is enqueued.
  var prepared: PreparedBody { hasExtras ? extra.prepared : .none }
}

/// The settings that most requests leave alone.
struct RequestExtras: Sendable {
  var parameters = NetworkRequest.Parameters([])
  var parameterEncoding = NetworkRequest.ParameterEncoding.form
  var body: NetworkRequest.Body = .none
  /// The body as it will be sent, made when the operation is enqueued.
  var prepared: PreparedBody = .none
  var timeouts = NetworkRequest.Timeouts.standard
  var retry = NetworkRequest.Retry.inherited
  var redirects = NetworkRequest.Redirects.inherited
  var idempotencyKey: String?
  var tag: String?
  var resumes = false
  var cacheLifetime: Duration?
  var cacheKey: String?
  var credentialScope: String?
  var notifiesOnlyChanges = false
  var credentials: NetworkCredentials?
  var waitsForOrigin = false
  var compression: NetworkRequest.Compression?
  /// `prepared` is not what `body` says any more.
  var isCompressed = false
  var freezing = FreezeOptions()

  static let standard = RequestExtras()
}

extension NetworkRequest {
  /// Nothing by default.
  public var body: Body {
    get { hasExtras ? extra.body : .none }
    set {
      if case .none = newValue, !hasExtras { return }
      extra.body = newValue
    }
  }

  /// Ordered pairs that go to the query for GET, HEAD, DELETE and OPTIONS and to the body otherwise, when the
  /// operation is enqueued.
  public var parameters: Parameters {
    get { hasExtras ? extra.parameters : Parameters([]) }
    set {
      if newValue.count == 0 && !hasExtras { return }
      extra.parameters = newValue
    }
  }

  /// `.form` by default.
  public var parameterEncoding: ParameterEncoding {
    get { hasExtras ? extra.parameterEncoding : .form }
    set { extra.parameterEncoding = newValue }
  }

  /// Its own limits of time; those that are not set are the engine's.
  public var timeouts: Timeouts {
    get { hasExtras ? extra.timeouts : .standard }
    set { extra.timeouts = newValue }
  }

  /// `.inherited` by default: the engine's.
  public var retry: Retry {
    get { hasExtras ? extra.retry : .inherited }
    set { extra.retry = newValue }
  }

  /// `.inherited` by default: the engine's.
  public var redirects: Redirects {
    get { hasExtras ? extra.redirects : .inherited }
    set { extra.redirects = newValue }
  }

  /// The account that this request is sent for; the engine's when nil. Credentials go to the origin of `url` only: a redirect to another
  /// origin leaves them behind.
  public var credentials: NetworkCredentials? {
    get { hasExtras ? extra.credentials : nil }
    set {
      if newValue == nil && !hasExtras { return }
      extra.credentials = newValue
    }
  }

  /// Sent as `Idempotency-Key`, quoted, the same on every attempt; makes a POST repeatable.
  public var idempotencyKey: String? {
    get { hasExtras ? extra.idempotencyKey : nil }
    set { extra.idempotencyKey = newValue }
  }

  /// A name of your own, to cancel by, and to remove by what was stored (`NetworkEngine.removeCached(tag:)`).
  public var tag: String? {
    get { hasExtras ? extra.tag : nil }
    set { extra.tag = newValue }
  }

  /// The time for which the stored answer counts as fresh, whatever it says itself; nil, the default, leaves
  /// it to the rules. `no-store` holds all the same.
  public var cacheLifetime: Duration? {
    get { hasExtras ? extra.cacheLifetime : nil }
    set { extra.cacheLifetime = newValue }
  }

  /// Names the resource for the cache in place of the URL, for URLs that change while what they name does not, such as
  /// signed ones. Nil, the default, or empty: the URL. Requests with one key must mean one resource: what one of them stores, all of
  /// them get. A POST with the same key removes it; `removeCached(url:)` and `(prefix:)` do not find it, `(tag:)` does.
  public var cacheKey: String? {
    get { hasExtras ? extra.cacheKey : nil }
    set {
      if newValue == nil && !hasExtras { return }
      extra.cacheKey = newValue?.unlessEmpty
    }
  }

  /// Names the sender: what is stored under one name is never served under another. Nil, the default, or
  /// empty takes the engine's, or derives one from `Authorization` and `Cookie` that ends with the process.
  public var credentialScope: String? {
    get { hasExtras ? extra.credentialScope : nil }
    set { extra.credentialScope = newValue?.unlessEmpty }
  }

  /// With `.cachedThenFresh`: whether the second completion is left out when the fresh body is byte for byte the
  /// cached one; false by default. ``NetworkOperation/onNotModified(_:)`` is called then.
  public var notifiesOnlyChanges: Bool {
    get { hasExtras ? extra.notifiesOnlyChanges : false }
    set { extra.notifiesOnlyChanges = newValue }
  }

  /// Lets a request that did not get through (no route, no name, no listener) wait, instead of ending with
  /// that error, until it can be sent; false by default. It waits as long as ``Timeouts/queueDeadline``
  /// allows, for ever without; what its tries take is part of ``Timeouts/total``. It shares its exchange with
  /// no other request. One that the origin may have acted on waits only if it may be repeated.
  public var waitsForOrigin: Bool {
    get { hasExtras ? extra.waitsForOrigin : false }
    set { extra.waitsForOrigin = newValue }
  }

  /// The compression of the body before it is sent; nil, the default, leaves it as it is. Bodies from memory
  /// only, up to 64 MiB; others are sent as they are, and so are those that a `Content-Encoding` says are
  /// compressed already.
  public var compression: Compression? {
    get { hasExtras ? extra.compression : nil }
    set { extra.compression = newValue }
  }

  /// The compression of a body. Only for origins that are known to take it: there is no asking first.
  public enum Compression: String, Sendable, Hashable {
    /// RFC 1952, at zlib's usual level.
    case gzip
  }

  /// The settings for a frozen request; all defaults unless given.
  public var freezing: FreezeOptions {
    get { hasExtras ? extra.freezing : FreezeOptions() }
    set { extra.freezing = newValue }
  }

  /// The request as a curl command for a shell, secrets masked.
  public var curlCommand: String { curlCommand(revealingSecrets: false) }

  /// The request as a curl command for a shell. With secrets it is as secret as they are.
  public func curlCommand(revealingSecrets: Bool) -> String {
    curlCommand(revealingSecrets: revealingSecrets, defaults: Headers(), engine: nil)
  }
}

extension NetworkRequest: CustomStringConvertible, CustomReflectable {
  /// The curl command, secrets masked.
  public var description: String { curlCommand }
  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}

/// The library's own name for a request method.
typealias Method = NetworkRequest.Method

extension NetworkRequest {
  /// A request method: any token, its case kept (RFC 9110 section 9.1). `CONNECT` and anything that is no
  /// token is refused with `.invalidRequest` when the operation is enqueued.
  public struct Method: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    let name: String

    /// A method by its name.
    public init(_ name: String) { self.name = name }
    /// A method by its name.
    public init(stringLiteral name: String) { self.name = name }
    /// The name as it is sent.
    public var description: String { name }

    /// Asks for a representation; the default.
    public static let get = Self("GET")
    /// Asks for the head alone.
    public static let head = Self("HEAD")
    /// Hands something in.
    public static let post = Self("POST")
    /// Replaces.
    public static let put = Self("PUT")
    /// Changes a part.
    public static let patch = Self("PATCH")
    /// Removes.
    public static let delete = Self("DELETE")
    /// Asks what is possible.
    public static let options = Self("OPTIONS")
    /// Asks for what arrived to be sent back.
    public static let trace = Self("TRACE")

    /// Sending it twice has the effect of sending it once (RFC 9110 section 9.2.2).
    var isIdempotent: Bool { isSafe || name == "PUT" || name == "DELETE" }
    /// True when it asks for nothing to be changed (RFC 9110 section 9.2.1).
    var isSafe: Bool { name == "GET" || name == "HEAD" || name == "OPTIONS" || name == "TRACE" }
    /// An origin expects a body, so an empty one is announced with its length (RFC 9110 section 8.6).
    var expectsBody: Bool { name == "POST" || name == "PUT" || name == "PATCH" }

    /// Parameters travel in the query instead of the body.
    var putsParametersInQuery: Bool {
      name == "GET" || name == "HEAD" || name == "DELETE" || name == "OPTIONS"
    }
  }
}

extension String {
  /// Nil for an empty name, which names nothing: requests without a name must not share.
  var unlessEmpty: String? { isEmpty ? nil : self }
}
