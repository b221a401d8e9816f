/// The cache of one engine: a store, and the rules it goes by. Any thread.
final class EngineCache: Sendable {
  struct Settings: Sendable {
    var rules: CacheRules = .standard
    var defaultPolicy: CachePolicy = .automatic
    /// The largest body that is stored.
    var bodyBytesMax = 16 << 20
    /// What of answers that were found is kept beside the store, at most.
    var recentBytesMax = 1 << 20
    /// A single process asks the origin for all.
    var coalescesAcrossProcesses = true
    /// Which part of the store; its quota is the store's.
    var namespace = "default"
    /// The scope of answers whose requests name none.
    var scope: String?
    /// What the names of fields say of whose answers these are.
    var fieldMeaning = FieldMeaning.standard
    /// The servers that may answer the engine.
    var reach = AnswerScope.Reach.standard
    /// Where the engine's requests may go.
    var egress = NetworkEngine.Egress.any
    /// Milliseconds since 1970.
    var now: @Sendable () -> Int64 = { WallClock.milliseconds }
  }

  let settings: Settings
  let store: CacheStore
  /// The engine's fields and account; who sends a request without either of its own; and the scope of its answers.
  private let defaults: Headers
  private let account: EngineCredential?
  private let plainSender: CacheSender
  /// What such a request asks, and those of its fields that may count for the key: most often none.
  private let plainRequest: CacheRequest
  private let plainRouting: Headers
  private let plainScope: AnswerScope
  private let plainPrefix: [UInt8]
  /// Of an engine that keeps cookies.
  private let jar: CookieJar?
  /// The codings that the engine's own fields name.
  private let plainCodings: [UInt8]?
  /// The store's part, in its keys.
  let part: UInt64
  /// A request without anything of its own asks for nothing but a fresh answer, and the same whenever it comes.
  let isAskedPlainly: Bool
  let recent: RecentAnswers
  /// Where answers were found to vary: an answer without `Vary` takes a place among them.
  private let varying = VaryMarks()
  enum Count: Int, CaseIterable { case served, bytesSaved, validations }
  private let counts = SharedCounts<Count>()

  init(
    store: CacheStore, settings: Settings, headers: Headers, account: EngineCredential? = nil,
    jar: CookieJar? = nil
  ) {
    self.store = store
    self.jar = jar
    self.settings = settings
    recent = RecentAnswers(bytesMax: settings.recentBytesMax)
    (defaults, self.account) = (headers, account)
    plainSender = CacheSender(own: Headers(), defaults: headers, account?.credential, decodes: true)
    plainRequest = CacheRequest(headers: plainSender.fields)
    plainRouting = RequestFieldScan.mayRoute(plainSender.fields) ? plainSender.fields : Headers()
    plainScope = Self.scope(settings, own: nil, plainSender)
    plainPrefix = CacheKey.prefix(scope: plainScope)
    plainCodings = Self.codings(headers)
    part = StoreKey.part(settings.namespace)
    isAskedPlainly =
      jar == nil && settings.defaultPolicy == .automatic && plainRequest.directives == .none
      && !settings.egress.isRule
  }

  var keepsCookies: Bool { jar != nil }

  /// A request that names the codings gets bytes as they were coded, which are no other request's.
  private static func codings(_ fields: Headers) -> [UInt8]? {
    fields.contains("Accept-Encoding") ? SelectingValue.normalised("accept-encoding", in: fields) : nil
  }

  /// Counts an answer that came from here, with so many bytes of body.
  func didServe(_ bytes: Int) {
    counts.add(1, to: .served)
    counts.add(bytes, to: .bytesSaved)
  }

  /// Counts a 304 to a question of ours.
  func didValidate() { counts.add(1, to: .validations) }

  /// What the store holds and did, and what this engine had of it.
  var statistics: CacheStatistics {
    var statistics = store.statistics
    statistics.served = counts[.served]
    statistics.bytesSaved = counts[.bytesSaved]
    statistics.validations = counts[.validations]
    return statistics
  }

  var rules: CacheRules { settings.rules }
  var now: Int64 { settings.now() }

  /// The one place where it is said who answers, and for whom. `own`: a name of the request's.
  private static func scope(_ settings: Settings, own: String?, _ sender: CacheSender) -> AnswerScope {
    var whom = AnswerScope.shared
    if !settings.rules.isShared {
      whom =
        (own ?? settings.scope).map(AnswerScope.named)
        ?? .derived(from: sender.fields, account: sender.account, meaning: settings.fieldMeaning)
    }
    return whom.within(settings.reach, inNamespace: settings.namespace)
  }

  /// Returns who sends a request with these fields and this account; nil where it brings neither.
  ///
  /// - Parameters:
  ///   - origin: where it goes; the engine's account is for one origin alone.
  ///   - isForeign: it was led to another origin, which sees nothing of the engine's.
  func sender(
    own: Headers, _ account: NetworkCredentials?, to origin: Span<UInt8>, isForeign: Bool = false
  ) -> CacheSender? {
    let decodes = !own.contains("Range")
    if isForeign { return CacheSender(own: own, defaults: Headers(), nil, decodes: decodes) }
    let isAway = self.account.map { !$0.belongs(to: origin) } ?? false
    if own.count == 0, account == nil, !isAway { return nil }
    let engines = isAway ? nil : self.account?.credential
    let all = account?.over(engines) ?? engines
    return CacheSender(own: own, defaults: defaults, all, decodes: decodes)
  }

  /// The rule is asked for each answer with the address that it came from, since it may have changed its mind.
  func mayUse(_ stored: StoredResponse) -> Bool {
    guard settings.egress.isRule else { return true }
    return stored.peer.map { settings.egress.allows($0) } ?? false
  }

  /// Nil for what no cache may answer or store. `origin` and `target` are the two halves of a canonical URL;
  /// `sender` is nil for a request that brings nothing of its own, `own` are the fields of the request itself.
  func question(
    _ request: NetworkRequest, method: Method, origin: Span<UInt8>, target: Span<UInt8>, own headers: Headers,
    from sender: CacheSender?
  ) -> CacheQuestion? {
    let own = request.credentialScope
    let lifetime = request.cacheLifetime
    let cookies = jar?.version ?? 0
    let sender = jar?.add(to: sender ?? plainSender, for: origin) ?? sender
    let fields = sender?.fields
    let isPlain = sender == nil && own == nil
    let scope = isPlain ? plainScope : Self.scope(settings, own: own, sender ?? plainSender)
    var asked = fields.map { CacheRequest(headers: $0) } ?? plainRequest
    asked.method = method
    asked.policy = request.cachePolicy ?? settings.defaultPolicy
    asked.lifetime = lifetime?.seconds
    if asked.bypassesCache, !asked.staysOffline { return nil }
    let codings = fields == nil ? plainCodings : Self.codings(headers) ?? plainCodings
    let (key, resource) =
      if let custom = request.cacheKey {
        CacheKey.primary(scope: scope, custom: custom, codings: codings)
      } else {
        CacheKey.primary(
          prefix: isPlain ? plainPrefix : CacheKey.prefix(scope: scope), origin: origin, target: target,
          headers: fields ?? plainRouting, codings: codings)
      }
    return CacheQuestion(
      request: asked, fields: fields ?? plainSender.fields, scope: scope,
      primaryKey: StoreKey(key, resource: resource, part: part), resource: resource, cookies: cookies)
  }

  /// The cookies have changed since a question was asked: what it is about is another sender's.
  func isOutdated(_ question: CacheQuestion) -> Bool { question.cookies != jar?.version ?? 0 }
}

/// What is asked of a cache: a request as the origin would see it.
struct CacheQuestion: Sendable {
  let request: CacheRequest
  /// All fields that would be sent; `Vary` may name any of them.
  let fields: Headers
  let scope: AnswerScope
  /// Names the resource; its answer, or the index of its variants, stands here.
  let primaryKey: StoreKey
  /// Which bytes of the key those are that name the resource.
  let resource: Range<Int>
  /// Which cookies there were (`CookieJar.version`).
  let cookies: Int
}

/// Reading and writing what is held. Any thread.
extension EngineCache {
  func held(for question: CacheQuestion) -> HeldAnswer? {
    let whole = heldWhole(for: question)
    guard question.request.directives.flags.contains(.hasRange) else { return whole }
    if let whole, CacheDecision.serves(question.request, stored: whole.stored, now: now) { return whole }
    guard let parts = heldParts(for: question) else { return whole }
    guard let whole, !answer(parts, question, after: whole) else { return parts }
    return whole
  }

  /// True if parts serve that came after the whole, which does not serve any more.
  private func answer(_ parts: HeldAnswer, _ question: CacheQuestion, after whole: HeldAnswer) -> Bool {
    if parts.stored.receivedAt < whole.stored.receivedAt { return false }
    return CacheDecision.serves(question.request, stored: parts.stored, now: now)
      && StoredSelection(question.request, question.fields, stored: parts.stored) != .origin
  }

  func heldWhole(for question: CacheQuestion) -> HeldAnswer? {
    let primary = question.primaryKey
    guard let hit = store.lookup(primary) else { return nil }
    switch PrimaryEntry(decoding: hit.metadata.rawBytes, rules: rules) {
    case .response(let stored):
      let held = HeldAnswer(key: primary, stored: stored, hit: hit)
      return isWhole(held) && mayUse(stored) ? held : nil
    case .variants(let index): return variant(index, question)
    case nil:
      store.remove(primary)
      return nil
    }
  }

  /// The youngest of those that the request fits.
  private func variant(_ index: VariantIndex, _ question: CacheQuestion) -> HeldAnswer? {
    varying.note(question.primaryKey)
    var youngest: HeldAnswer?
    for list in index.lists.indices {
      guard let held = wholeAnswer(at: variantKey(index, list, question)) else { continue }
      if youngest.map({ $0.stored.receivedAt < held.stored.receivedAt }) ?? true { youngest = held }
    }
    return youngest
  }

  /// The answer at a key, if it may be used.
  func answer(at key: StoreKey) -> HeldAnswer? {
    guard let hit = store.lookup(key),
      let stored = StoredResponse(decoding: hit.metadata.rawBytes, rules: rules), mayUse(stored)
    else { return nil }
    return HeldAnswer(key: key, stored: stored, hit: hit)
  }

  func wholeAnswer(at key: StoreKey) -> HeldAnswer? { answer(at: key).flatMap { isWhole($0) ? $0 : nil } }

  private func variantKey(_ index: VariantIndex, _ list: Int, _ question: CacheQuestion) -> StoreKey {
    let bytes = CacheKey.variant(
      index, list: list, of: question.primaryKey.fullKey, headers: question.fields, settings.fieldMeaning)
    return StoreKey(bytes, resource: question.resource, part: part)
  }

  /// What says something else of its body goes.
  private func isWhole(_ held: HeldAnswer) -> Bool {
    if held.stored.bodyBytes == held.hit.body.count { return true }
    remove(held)
    return false
  }

  /// Stores a whole answer in place of what was held, unless the resource was changed after it was asked for.
  func put(_ entry: StoredResponse, _ body: PendingBody, for question: CacheQuestion, askedAt: Microseconds) {
    var entry = entry
    entry.bodyBytes = Int64(body.count)
    var key: StoreKey? = question.primaryKey
    if mustLook(beforePutting: entry, for: question) {
      key = VaryFields(entry.headers).flatMap { variantKey($0, question, askedAt) }
    }
    guard let key else { return }
    store.put(key, namespace: settings.namespace, metadata: entry.encode(), body: body, askedAt: askedAt)
  }

  /// True when what is stored says where the answer belongs. A loop does not look there.
  func mustLook(beforePutting entry: StoredResponse, for question: CacheQuestion) -> Bool {
    entry.facts.flags.contains(.varies) || varying.mayHave(question.primaryKey)
  }

  /// Where this variant stands; the index of the variants is made if it is not there, and learns of other
  /// names. What was stored under other names, or without any, stays (RFC 9111 section 4.1).
  private func variantKey(
    _ vary: VaryFields, _ question: CacheQuestion, _ askedAt: Microseconds
  ) -> StoreKey? {
    let primary = question.primaryKey
    let hit = store.lookup(primary)
    var index = VariantIndex(fields: vary)
    switch hit.flatMap({ PrimaryEntry(decoding: $0.metadata.rawBytes, rules: rules) }) {
    case .variants(let held):
      if let list = held.lists.firstIndex(of: vary) { return variantKey(held, list, question) }
      index = held.adding(vary)
    case _ where vary.isEmpty: return primary
    case .response(let stored):
      index = index.adding(VaryFields(names: []))
      // Makes room for the index where the only answer was so far.
      if let hit {
        store.put(
          variantKey(index, 0, question), namespace: settings.namespace, metadata: stored.encode(),
          body: .bytes(hit.body.array), askedAt: MonotonicClock.now)
      }
    case nil: break
    }
    varying.note(primary)
    store.put(primary, namespace: settings.namespace, metadata: index.encode(), body: [], askedAt: askedAt)
    return index.lists.firstIndex(of: vary).map { variantKey(index, $0, question) }
  }

  /// Does with what is held what a 304 or a HEAD says: with newer fields its body stays.
  func apply(_ result: NotModified, to held: HeldAnswer, after status: Int? = nil) {
    switch result {
    case .updated(let stored):
      store.replaceMetadata(held.key, metadata: stored.encode(), ifBodyIs: held.hit.bodyID)
    case .dropped: remove(held, after: status)
    case .kept, .mismatched: break
    }
  }

  /// - Parameter status: of the newer answer. Where nothing is left, what was made of this one goes as well.
  func remove(_ held: HeldAnswer, after status: Int? = nil) {
    if status == 404 || status == 410 {
      store.removeResource(held.key.digest.first)
    } else {
      store.remove(held.key)
    }
  }

  /// True if it may still be used, has not been removed, and no other has taken its place.
  func isHeld(_ held: HeldAnswer) -> Bool {
    mayUse(held.stored) && store.lookup(held.key)?.bodyID == held.hit.bodyID
  }
}
