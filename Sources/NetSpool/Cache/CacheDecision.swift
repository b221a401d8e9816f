/// How a request is answered: a pure function of the request, what is stored for it, and the time. The one
/// place where that is decided.
///
/// | policy                  | fresh   | stale, may be used | stale, may not     | nothing held |
/// |-------------------------|---------|--------------------|--------------------|--------------|
/// | `.automatic`            | `serve` | `revalidate` (1)   | `revalidate`       | `fetch`      |
/// | `.cachedThenFresh`      | `serve` | `serveAndRevalidate` | `revalidate`     | `fetch`      |
/// | `.staleWhileRevalidate` | `serve` | `serveAndRevalidate` | `revalidate`     | `fetch`      |
/// | `.preferCached`         | `serve` | `serve`            | `revalidate`       | `fetch`      |
/// | `.onlyIfCached`         | `serve` | `serve`            | `notCached`        | `notCached`  |
/// | `.alwaysValidate`       | `revalidate` | `revalidate` | `revalidate`      | `fetch`      |
/// | `.reload`               | `fetch` | `fetch`            | `fetch`            | `fetch`      |
/// | `.noStore`              | `bypass`| `bypass`           | `bypass`           | `bypass`     |
///
/// "May not" is an answer with `must-revalidate` or `no-cache` (a shared cache: also `proxy-revalidate` and
/// `s-maxage`), and any request with `no-cache` or `max-age=0` (RFC 9111 section 4.2.4).
///
/// (1) `serve` within the request's `max-stale`, `serveAndRevalidate` within the answer's
/// `stale-while-revalidate` (RFC 5861), `notCached` when the request says `only-if-cached`.
///
/// Fresh means also: within the request's `max-age` and `min-fresh`. Without a validator `fetch` takes the
/// place of `revalidate`; so it does for HEAD, whose answer then updates what is stored, and for a request with conditions
/// of its own or for parts. What `serve` means for one of those `StoredSelection` says.
enum CacheDecision: Sendable, Equatable {
  /// The stored response is the answer; the network is not used.
  case serve
  /// The stored response is an answer; ask with these conditions, or with none, meanwhile.
  case serveAndRevalidate(conditions: Headers)
  /// Ask with these conditions; after a 304 what is stored is the answer.
  case revalidate(conditions: Headers)
  /// Ask; the answer may be stored.
  case fetch
  /// Ask; the cache is neither read nor written.
  case bypass
  /// Nothing may be served and the network must not be asked.
  case notCached

  /// `stored`: what Vary selects for this request; `now`: milliseconds since 1970.
  static func make(for request: CacheRequest, stored: StoredResponse?, now: Int64) -> CacheDecision {
    if let stored, request.isPlain, stored.isFresh(at: now) { return .serve }
    if request.bypassesCache { return request.staysOffline ? .notCached : .bypass }
    guard let stored, request.policy != .reload else { return request.staysOffline ? .notCached : .fetch }
    switch Use.of(stored, by: request, now: now) {
    case .fresh: return .serve
    case .stale where !request.renewsInBackground || request.staysOffline: return .serve
    case .stale where request.isOwn, .renew where request.isOwn: return .fetch
    case .stale, .renew: return .serveAndRevalidate(conditions: conditions(stored, request))
    case .validate:
      if request.staysOffline { return .notCached }
      let conditions = conditions(stored, request)
      return conditions.block.isEmpty ? .fetch : .revalidate(conditions: conditions)
    }
  }

  /// True if `make` says `serve`, without the conditions that other decisions need.
  static func serves(_ request: CacheRequest, stored: StoredResponse, now: Int64) -> Bool {
    if request.isPlain { return stored.isFresh(at: now) }
    if request.bypassesCache || request.policy == .reload { return false }
    return switch Use.of(stored, by: request, now: now) {
    case .fresh: true
    case .stale: !request.renewsInBackground || request.staysOffline
    case .renew, .validate: false
    }
  }

  private static func conditions(_ stored: StoredResponse, _ request: CacheRequest) -> Headers {
    request.method == .head || request.isOwn ? Headers() : stored.conditions
  }
}

/// What may be done with a stored answer.
private enum Use {
  case fresh
  /// The stored response is stale, and the request accepts that.
  case stale
  /// The stored response is stale, and the origin lets it serve while it is renewed.
  case renew
  case validate

  static func of(_ stored: StoredResponse, by request: CacheRequest, now: Int64) -> Use {
    let directives = request.directives
    if directives.flags.contains(.noCache) || request.policy == .alwaysValidate { return .validate }
    let freshFor = stored.freshFor(at: now, own: request.lifetime)
    if freshFor > 0, isYoungEnough(stored, directives, freshFor, now) { return .fresh }
    // A reload asks with `max-age=0`.
    if directives.maxAge == 0 { return .validate }
    if freshFor <= 0, stored.facts.flags.contains(.forbidsStale) { return .validate }
    if request.welcomesStale { return .stale }
    if let maxStale = directives.maxStale, isWithin(maxStale, stored, directives, freshFor, now) {
      return .stale
    }
    let window = stored.facts.staleWhileRevalidate
    let isBound = directives.maxAge != nil || directives.minFresh != nil || request.lifetime != nil
    if window > 0, !isBound, !request.staysOffline, stored.isStale(freshFor, byAtMost: window) {
      return .renew
    }
    return .validate
  }

  /// Within `max-age` and `min-fresh` of the request. An immutable answer stands up to a plain reload,
  /// `max-age=0`, but not to `no-cache`, the forced one (RFC 8246 section 2).
  private static func isYoungEnough(
    _ stored: StoredResponse, _ directives: RequestDirectives, _ freshFor: Int64, _ now: Int64
  ) -> Bool {
    if let minFresh = directives.minFresh, freshFor < minFresh.milliseconds { return false }
    guard let maxAge = directives.maxAge else { return true }
    if maxAge == 0 { return stored.facts.flags.contains(.immutable) }
    return stored.currentAge(at: now) <= maxAge.milliseconds
  }

  /// `max-stale` stretches the lifetime and `max-age` alike (RFC 9111 sections 5.2.1.1 and 5.2.1.2).
  private static func isWithin(
    _ maxStale: Int64, _ stored: StoredResponse, _ directives: RequestDirectives, _ freshFor: Int64,
    _ now: Int64
  ) -> Bool {
    guard directives.minFresh == nil, stored.isStale(freshFor, byAtMost: maxStale) else { return false }
    guard let maxAge = directives.maxAge else { return true }
    return stored.currentAge(at: now) <= (maxAge + maxStale).milliseconds
  }
}

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

  /// True if the request brings conditions of its own, or asks for parts.
  var isOwn: Bool { !directives.flags.isDisjoint(with: [.isConditional, .hasRange]) }

  /// Neither answered from the cache nor stored in it.
  var bypassesCache: Bool {
    guard isGet || method.name == "HEAD", policy != .noStore else { return true }
    return !directives.flags.isDisjoint(with: [.noStore, .standsAlone])
  }

  /// No stored byte may be delivered that the origin has not just confirmed.
  var demandsValidation: Bool {
    policy == .reload || policy == .alwaysValidate || bypassesCache || directives.flags.contains(.noCache)
      || directives.maxAge == 0
  }

  /// The network must not be asked.
  var staysOffline: Bool { policy == .onlyIfCached || directives.flags.contains(.onlyIfCached) }

  /// Stale answers are welcome, however old.
  var welcomesStale: Bool {
    switch policy {
    case .cachedThenFresh, .staleWhileRevalidate, .preferCached, .onlyIfCached: true
    case .automatic, .alwaysValidate, .reload, .noStore: false
    }
  }

  var renewsInBackground: Bool { policy == .cachedThenFresh || policy == .staleWhileRevalidate }
}
