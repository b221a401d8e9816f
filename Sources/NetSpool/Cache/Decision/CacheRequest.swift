/// What the cache must know of a request.
struct CacheRequest: Sendable, Hashable {
  var method: Method
  var policy: CachePolicy
  var directives: RequestDirectives
  /// A lifetime of the caller's own in seconds, counted from receipt or the last validation. It replaces
  /// all that the answer says about freshness, `no-cache` and `must-revalidate` included, until it has run
  /// out. Nil: the rules decide.
  var lifetime: Double?

  /// `headers`: all fields that will be sent; they decide together with the policy.
  init(
    method: Method = .get, headers: Headers = Headers(), policy: CachePolicy = .automatic,
    lifetime: Double? = nil
  ) {
    self.method = method
    self.policy = policy
    self.lifetime = lifetime
    directives = RequestDirectives(headers)
  }

  /// Nothing but a URL is asked: the whole decision is whether what is held is fresh.
  var isPlain: Bool { policy == .automatic && lifetime == nil && directives == .none && isGet }

  private var isGet: Bool { method.name == "GET" }

  /// Neither answered from the cache nor stored in it.
  var bypassesCache: Bool {
    guard isGet || method.name == "HEAD", policy != .noStore else { return true }
    return !directives.flags.isDisjoint(with: [.noStore, .standsAlone])
  }

  /// No stored byte may be delivered that the origin has not just confirmed.
  var demandsValidation: Bool {
    policy == .reload || bypassesCache || directives.flags.contains(.noCache) || directives.maxAge == 0
  }

  /// The network must not be asked.
  var staysOffline: Bool {
    policy == .onlyIfCached || directives.flags.contains(.onlyIfCached)
  }

  /// Stale answers are welcome, however old.
  var welcomesStale: Bool {
    switch policy {
    case .cachedThenFresh, .staleWhileRevalidate, .preferCached, .onlyIfCached: true
    case .automatic, .reload, .noStore: false
    }
  }

  var renewsInBackground: Bool { policy == .cachedThenFresh || policy == .staleWhileRevalidate }
}
