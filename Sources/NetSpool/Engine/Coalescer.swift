/// Equal requests that are waiting or running: the first carries the others.
///
/// Found by a 64-bit key, compared in full before anything is shared: method, URL, header fields, what is
/// wanted of the cache, redirects that are followed, and engine.
/// Two different requests with one key, which chance alone does not bring, simply go their own ways.
struct Coalescer {
  private var leaders: [UInt64: NetworkOperation] = [:]

  var isEmpty: Bool { leaders.isEmpty }

  /// GET and HEAD without a body, unless the caller wants it alone.
  static func mayShare(_ request: NetworkRequest) -> Bool {
    guard request.coalesces, request.method == .get || request.method == .head else { return false }
    guard request.hasExtras else { return true }
    if case .none = request.extra.body { return !request.extra.resumes && !request.extra.waitsForOrigin }
    return false
  }

  static func key(of request: NetworkRequest, _ engine: NetworkEngine) -> UInt64 {
    var hash = KeyHash(seed: engine.id)
    hash.add(request.url.utf8.span)
    hash.add(request.method.name.utf8.span)
    hash.add(request.headers.block.rawBytes)
    if let credential = request.credentials { hash.add(credential.id) }
    return hash.value
  }

  /// The operation that already asks for the same; if there is none, this one carries from now on.
  mutating func leader(for operation: NetworkOperation, _ request: NetworkRequest, _ key: UInt64)
    -> NetworkOperation?
  {
    guard let leader = leaders[key] else {
      leaders[key] = operation
      return nil
    }
    return Self.isSame(leader, operation, request) ? leader : nil
  }

  private static func isSame(
    _ leader: NetworkOperation, _ operation: NetworkOperation, _ request: NetworkRequest
  ) -> Bool {
    let other = leader.request
    return leader.engine === operation.engine && other.url == request.url && other.method == request.method
      && other.headers == request.headers && other.cachePolicy == request.cachePolicy
      && cacheSettings(of: other) == cacheSettings(of: request)
      && redirects(of: other) == redirects(of: request) && other.credentials?.id == request.credentials?.id
  }

  /// What would make the cache answer them differently.
  private static func cacheSettings(of request: NetworkRequest) -> CacheSettings? {
    guard request.hasExtras else { return nil }
    let settings = CacheSettings(lifetime: request.extra.cacheLifetime, scope: request.extra.credentialScope)
    return settings == CacheSettings() ? nil : settings
  }

  private struct CacheSettings: Equatable {
    var lifetime: Duration?
    var scope: String?
  }

  private static func redirects(of request: NetworkRequest) -> NetworkRequest.Redirects? {
    request.redirects
  }

  mutating func remove(_ operation: NetworkOperation, _ key: UInt64) {
    if leaders[key] === operation { leaders[key] = nil }
  }
}
