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
  /// Of an engine that keeps cookies.
  private let jar: CookieJar?

  init(store: CacheStore, settings: Settings, headers: Headers, jar: CookieJar? = nil) {
    self.store = store
    self.jar = jar
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
    let cookies = jar?.version ?? 0
    let fields = jar?.add(to: fields ?? plainFields, for: origin) ?? fields
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
    return CacheQuestion(
      asked, fields: fields ?? plainFields, scope: scope, primaryKey: StoreKey(key), cookies: cookies)
  }

  /// The cookies have changed since a question was asked: what it is about is somebody else's.
  func isOutdated(_ question: CacheQuestion) -> Bool { question.cookies != jar?.version ?? 0 }

  /// For whom a plain request to this URL would be now.
  private func currentScope(_ url: URLPieces) -> CacheScope {
    guard let fields = jar?.add(to: plainFields, for: url.origin.text.utf8.span) else { return plainScope }
    return scope(own: nil, fields)
  }
}

/// What is asked of a cache: a request as the origin would see it.
struct CacheQuestion: Sendable {
  let request: CacheRequest
  /// All fields that would be sent; `Vary` may name any of them.
  let fields: Headers
  let scope: CacheScope
  /// Names the resource; its answer, or the index of its variants, stands here.
  let primaryKey: StoreKey
  /// Which cookies there were (`CookieJar.version`).
  let cookies: Int

  init(
    _ request: consuming CacheRequest, fields: Headers, scope: CacheScope, primaryKey: StoreKey, cookies: Int
  ) {
    self.cookies = cookies
    self.request = request
    self.fields = fields
    self.scope = scope
    self.primaryKey = primaryKey
  }
}

/// What a cache holds for a question, fresh or not.
struct HeldAnswer: Sendable {
  let key: StoreKey
  private(set) var stored: StoredResponse
  let hit: StoreHit

  init(key: StoreKey, stored: StoredResponse, hit: StoreHit) {
    self.key = key
    self.stored = stored
    self.hit = hit
  }

  /// As it is served, with the body unless only the head was asked for. Takes the fields, which have room for
  /// one more, so that they need no copy: once only.
  mutating func takeResponse(
    from source: NetworkResponse.Source, url: String, now: Int64, withBody: Bool
  ) -> NetworkResponse {
    let headers = stored.takeServedHeaders(at: now)
    return NetworkResponse(
      head: ResponseHead(version: stored.version, status: stored.status, headers: headers),
      body: withBody ? ResponseBody(lent: hit.body) : .empty, source: source, finalURL: url,
      metrics: NetworkResponse.Metrics(), streams: [], age: .seconds(stored.age(at: now)))
  }

  /// The same with what a 304 or a HEAD has brought.
  func updated(_ stored: StoredResponse) -> HeldAnswer { HeldAnswer(key: key, stored: stored, hit: hit) }
}

/// Reading and writing what is held. Any thread.
extension EngineCache {
  func held(for question: CacheQuestion) -> HeldAnswer? {
    let primary = question.primaryKey
    guard let hit = store.lookup(primary) else { return nil }
    switch hit.withMetadata({ PrimaryEntry(decoding: $0, rules: rules) }) {
    case .response(let stored):
      return isWhole(stored, hit, primary) ? HeldAnswer(key: primary, stored: stored, hit: hit) : nil
    case .variants(let index): return variant(index, question)
    case nil:
      store.remove(primary)
      return nil
    }
  }

  private func variant(_ index: VariantIndex, _ question: CacheQuestion) -> HeldAnswer? {
    let key = StoreKey(CacheKey.variant(index, of: question.primaryKey.fullKey, headers: question.fields))
    guard let hit = store.lookup(key),
      let stored = hit.withMetadata({ StoredResponse(decoding: $0, rules: rules) }),
      isWhole(stored, hit, key)
    else { return nil }
    return HeldAnswer(key: key, stored: stored, hit: hit)
  }

  /// What says something else of its body goes.
  private func isWhole(_ stored: StoredResponse, _ hit: StoreHit, _ key: StoreKey) -> Bool {
    if stored.bodyBytes == hit.body.count { return true }
    store.remove(key)
    return false
  }

  /// Stores a whole answer in place of what was held.
  func put(_ entry: StoredResponse, _ body: [UInt8], for question: CacheQuestion) {
    var entry = entry
    entry.bodyBytes = Int64(body.count)
    guard let key = key(for: entry, question) else { return }
    store.put(key, namespace: settings.namespace, metadata: entry.encode(), body: body)
  }

  private func key(for entry: StoredResponse, _ question: CacheQuestion) -> StoreKey? {
    guard entry.facts.flags.contains(.varies) else { return question.primaryKey }
    guard let vary = VaryFields(entry.headers) else { return nil }
    return vary.isEmpty ? question.primaryKey : StoreKey(variantKey(vary, question))
  }

  /// Where this variant stands; the index of the variants is made if it is not there or names other fields.
  private func variantKey(_ vary: VaryFields, _ question: CacheQuestion) -> [UInt8] {
    let primary = question.primaryKey
    let entry = store.lookup(primary).flatMap { $0.withMetadata { PrimaryEntry(decoding: $0, rules: rules) } }
    if case .variants(let index) = entry, index.fields == vary {
      return CacheKey.variant(index, of: question.primaryKey.fullKey, headers: question.fields)
    }
    let index = VariantIndex(fields: vary)
    store.put(primary, namespace: settings.namespace, metadata: index.encode(), body: [])
    return CacheKey.variant(index, of: question.primaryKey.fullKey, headers: question.fields)
  }

  /// A 304 or a HEAD brought newer fields; the body stays.
  func update(_ held: HeldAnswer, to stored: StoredResponse) {
    store.replaceMetadata(held.key, metadata: stored.encode(), ifBodyIs: held.hit.bodyID)
  }

  func remove(_ held: HeldAnswer) { store.remove(held.key) }
}

/// What the thread that enqueues has found out.
struct FirstLook {
  /// Boxed as it will be kept: the response itself is large.
  var answer: NetworkOperation.Outcome?
  /// What the loop then need not make again: none, or one in a box that a hit does not need.
  var question: [CacheQuestion] = []
}

/// A fresh hit needs no loop: it is answered on the thread that enqueues.
extension EngineCache {
  /// An answer when there is one and finding it does not take the loop: no unusual URL, no redirect, no policy
  /// that may ask the network all the same.
  func look(for request: NetworkRequest) -> FirstLook {
    guard request.method == .get, let originBytes = PlainURL.canonicalOriginLength(request.url),
      !request.hasExtras || isPlain(request.extra)
    else { return FirstLook() }
    let url = request.url.utf8.span
    let fields = request.headers.count == 0 && request.credentials == nil ? nil : ownFields(request)
    guard
      let question = question(
        request, method: .get, origin: url.extracting(first: originBytes),
        target: url.extracting(droppingFirst: originBytes), fields: fields)
    else { return FirstLook() }
    guard var held = held(for: question) else { return FirstLook(question: [question]) }
    let now = now
    guard !(300..<400).contains(held.stored.status),
      CacheDecision.serves(question.request, stored: held.stored, now: now)
    else { return FirstLook(question: [question]) }
    let response = held.takeResponse(from: .cache, url: request.url, now: now, withBody: true)
    return FirstLook(answer: .success(response))
  }

  private func isPlain(_ extra: RequestExtras) -> Bool {
    guard case .none = extra.prepared else { return false }
    return !extra.resumes && extra.parameters.isEmpty
  }

  private func ownFields(_ request: NetworkRequest) -> Headers {
    SentFields.make(
      defaults: defaults, own: SentFields.add(request.credentials, to: request.headers),
      decodes: !request.headers.contains("Range"))
  }
}

/// Removing: what is removed is not served again once a call returns. Any thread.
extension EngineCache {
  func removeAll() { store.removeAll(namespace: settings.namespace, where: nil) }

  /// In all scopes, and whatever fields are part of the key.
  func remove(url: String) {
    guard let pieces = try? URLParser.parse(url).pieces else { return }
    let primary = CacheKey.primary(scope: .anonymous, url: pieces, headers: Headers())
    guard let url = CacheKey.url(in: primary).map({ Array($0) }) else { return }
    store.removeAll(namespace: settings.namespace) { CacheKey.concerns(url, isPrefix: false, in: $0) }
  }

  /// In all scopes. The prefix is taken to the letter: compared with URLs as RFC 3986 section 6.2.2 normalises
  /// them.
  func remove(prefix: String) {
    let prefix = Array(prefix.utf8)
    store.removeAll(namespace: settings.namespace) { CacheKey.concerns(prefix, isPrefix: true, in: $0) }
  }

  /// What answered a request, at once: it turned out to be worthless.
  func remove(answerTo request: NetworkRequest, at url: String) {
    guard let pieces = try? URLParser.parse(url).pieces else { return }
    let fields = SentFields.make(defaults: defaults, own: request.headers, decodes: true)
    let own = request.credentialScope
    for scope in Set([scope(own: own, fields), plainScope, currentScope(pieces), anonymousScope]) {
      remove(pieces, in: scope, sentWith: fields)
    }
  }

  /// With the index of its variants go all of them.
  private func remove(_ url: URLPieces, in scope: CacheScope, sentWith fields: Headers) {
    store.remove(StoreKey(CacheKey.primary(scope: scope, url: url, headers: fields)))
  }

  /// What an answer to an unsafe request makes worthless (RFC 9111 section 4.4): for who sent it, and for
  /// nobody in particular. `fields` are those that it was sent with.
  func invalidate(
    _ url: String, after head: ResponseHead, scope: CacheScope, sentWith fields: Headers
  ) {
    guard let target = try? URLParser.parse(url).pieces else { return }
    let others = Invalidation.references(head.headers).compactMap {
      try? URLParser.parse($0, relativeTo: url).pieces
    }
    for pieces in [target] + others.filter({ Invalidation.isTarget($0, of: target) }) {
      for scope in Set([scope, plainScope, currentScope(pieces), anonymousScope]) {
        for sent in Set([fields, Headers()]) { remove(pieces, in: scope, sentWith: sent) }
      }
    }
  }
}
