/// The cache of one engine: a store, and the rules it goes by. Any thread.
final class EngineCache: Sendable {
  struct Settings: Sendable {
    var rules: CacheRules = .standard
    var defaultPolicy: CachePolicy = .automatic
    /// The largest body that is stored.
    var bodyBytesMax = 16 << 20
    /// Which part of the store; its quota is the store's.
    var namespace = "default"
    /// Whose answers these are, when requests do not say.
    var scope: String?
    /// What the names of fields say of whose answers these are.
    var fieldMeaning = FieldMeaning.standard
    /// Milliseconds since 1970.
    var now: @Sendable () -> Int64 = { WallClock.milliseconds }

    init() {}
  }

  let settings: Settings
  let store: CacheStore
  /// The engine's fields; what a request without fields of its own would send; and whose answers those are.
  let defaults: Headers
  let plainFields: Headers
  /// What such a request asks, and those of its fields that may count for the key: most often none.
  private let plainRequest: CacheRequest
  private let plainRouting: Headers
  let plainScope: CacheScope
  private let plainPrefix: [UInt8]
  /// Whose answers are nobody's.
  let anonymousScope: CacheScope

  init(store: CacheStore, settings: Settings, headers: Headers) {
    self.store = store
    self.settings = settings
    defaults = headers
    plainFields = SentFields.make(defaults: headers, own: Headers(), decodes: true)
    plainRequest = CacheRequest(headers: plainFields)
    plainRouting = RequestFieldScan.mayRoute(plainFields) ? plainFields : Headers()
    plainScope = Self.scope(settings, own: nil, plainFields)
    plainPrefix = CacheKey.prefix(scope: plainScope)
    anonymousScope = CacheScope.anonymous.inNamespace(settings.namespace)
  }

  var rules: CacheRules { settings.rules }
  var now: Int64 { settings.now() }

  /// Whose answers a request with these fields, and this name of the caller's own, is for.
  func scope(own: String?, _ fields: Headers) -> CacheScope {
    Self.scope(settings, own: own, fields)
  }

  private static func scope(_ settings: Settings, own: String?, _ fields: Headers) -> CacheScope {
    if settings.rules.isShared { return .shared.inNamespace(settings.namespace) }
    let name = (own ?? settings.scope).map(CacheScope.named)
    return (name ?? .derived(from: fields, meaning: settings.fieldMeaning)).inNamespace(settings.namespace)
  }

  /// Nil for what no cache may answer or store. `origin` and `target` are the two halves of a canonical URL;
  /// `fields` is nil for a request that sends the engine's own and no others.
  func question(
    _ request: NetworkRequest, method: Method, origin: Span<UInt8>, target: Span<UInt8>, fields: Headers?
  ) -> CacheQuestion? {
    let own = request.credentialScope
    let lifetime = request.cacheLifetime
    let isPlain = fields == nil && own == nil
    let scope = isPlain ? plainScope : scope(own: own, fields ?? plainFields)
    var asked = fields.map { CacheRequest(headers: $0) } ?? plainRequest
    asked.method = method
    asked.policy = request.cachePolicy ?? settings.defaultPolicy
    asked.lifetime = lifetime?.seconds
    if asked.bypassesCache, !asked.staysOffline { return nil }
    let key = CacheKey.primary(
      prefix: isPlain ? plainPrefix : CacheKey.prefix(scope: scope), origin: origin, target: target,
      headers: fields ?? plainRouting)
    return CacheQuestion(asked, fields: fields ?? plainFields, scope: scope, primaryKey: StoreKey(key))
  }
}
