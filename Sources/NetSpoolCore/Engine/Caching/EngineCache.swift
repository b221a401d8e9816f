internal import Synchronization

/// The cache of one engine: a store, and the rules it goes by. Any thread.
package final class EngineCache: Sendable {
  package struct Settings: Sendable {
    package var rules: CacheRules = .standard
    package var defaultPolicy: CachePolicy = .automatic
    /// The largest body that is stored.
    package var bodyBytesMax = 16 << 20
    /// Which part of the store; its quota is the store's.
    package var namespace = "default"
    /// Whose answers these are, when requests do not say.
    package var scope: String?
    /// Milliseconds since 1970.
    package var now: @Sendable () -> Int64 = { WallClock.milliseconds }

    package init() {}
  }

  package let settings: Settings
  package let store: CacheStore
  /// The engine's fields; what a request without fields of its own would send; and whose answers those are.
  let defaults: HeaderFields
  let plainFields: HeaderFields
  let plainScope: CacheScope
  /// The scopes that were asked in: where a URL may have to be removed.
  private let scopes = Mutex<Set<CacheScope>>([])

  package init(store: CacheStore, settings: Settings, headers: HeaderFields) {
    self.store = store
    self.settings = settings
    defaults = headers
    plainFields = SentFields.make(defaults: headers, own: HeaderFields(), decodes: true)
    plainScope = Self.scope(settings, own: nil, plainFields)
  }

  var rules: CacheRules { settings.rules }
  var now: Int64 { settings.now() }

  static func scope(_ settings: Settings, own: String?, _ fields: HeaderFields) -> CacheScope {
    if settings.rules.isShared { return .shared }
    if let name = own ?? settings.scope { return .named(name) }
    return .derived(from: fields)
  }

  /// Nil for what no cache may answer or store. `origin` and `target` are the two halves of a canonical URL;
  /// `fields` is nil for a request that sends the engine's own and no others.
  func question(
    _ request: Request, method: Method, origin: Span<UInt8>, target: Span<UInt8>, fields: HeaderFields?
  ) -> CacheQuestion? {
    let own = request.hasExtras ? request.extra.credentialScope : nil
    let lifetime = request.hasExtras ? request.extra.cacheLifetime : nil
    let isPlain = fields == nil && own == nil
    let fields = fields ?? plainFields
    let scope = isPlain ? plainScope : Self.scope(settings, own: own, fields)
    let asked = CacheRequest(
      method: method, headers: fields, policy: request.cachePolicy ?? settings.defaultPolicy,
      lifetime: lifetime)
    if asked.bypassesCache, !asked.staysOffline { return nil }
    if !isPlain, scope != plainScope { note(scope) }
    return CacheQuestion(
      asked, fields: fields, scope: scope,
      primaryKey: StoreKey(CacheKey.primary(scope: scope, origin: origin, target: target, headers: fields)))
  }

  private func note(_ scope: CacheScope) { scopes.withLock { _ = $0.insert(scope) } }

  /// All scopes of this engine, in the order of what is likely.
  var knownScopes: [CacheScope] {
    let noted = scopes.withLock { $0 }.subtracting([plainScope, .anonymous])
    return (plainScope == .anonymous ? [plainScope] : [plainScope, .anonymous]) + noted
  }
}
