internal import Synchronization

/// Asks the cache what it has to say before an exchange and after it. It owns no operation and does nothing to one: its
/// caller does what follows. Loop thread.
struct CacheBridge {
  /// What the cache makes of a request.
  enum Consultation {
    /// The origin is asked; nil: the cache has nothing to do with it.
    case ask(CacheUse?)
    /// What is held is the answer; a stale one is brought up to date by a request of its own.
    case answer(NetworkResponse, renews: Bool)
    /// What is held goes out now, and the origin's answer follows.
    case provide(CacheUse)
    /// Nothing may be asked, and nothing is held.
    case refuse(NetworkError)
  }

  /// What follows from what is held.
  func consult(
    _ operation: NetworkOperation, _ cache: EngineCache, _ question: CacheQuestion, _ look: LoopLook
  ) -> Consultation {
    // Under a key of the caller's own, the redirect that has led here.
    let isLed = operation.sent.cacheKey != nil && (operation.loop.history?.redirects?.hops ?? 0) > 0
    let held = isLed ? look.held.flatMap { (300..<400).contains($0.stored.status) ? nil : $0 } : look.held
    switch CacheDecision.make(for: question.request, stored: held?.stored, now: cache.now) {
    case .bypass: return .ask(nil)
    case .notCached: return .refuse(NetworkError(.notCached))
    case .serve:
      guard let held else { return .ask(nil) }
      if let answer = answer(operation, question, held, look.parts, cache) {
        return .answer(answer, renews: false)
      }
      return question.request.staysOffline
        ? .refuse(NetworkError(.notCached)) : .ask(CacheUse(cache, question, held: held))
    case .serveAndRevalidate(let conditions):
      let use = CacheUse(cache, question, held: held, conditions: conditions)
      guard let held, !operation.loop.isRefresh else { return .ask(use) }
      // Two answers from two places would tell nobody anything.
      if question.request.policy == .cachedThenFresh, leadsElsewhere(held, operation) { return .ask(use) }
      var early = response(operation, held, .cache, cache)
      guard question.request.policy == .cachedThenFresh else { return .answer(early, renews: true) }
      early.isFinal = false
      use.early = early
      return .provide(use)
    case .revalidate(let conditions):
      return .ask(CacheUse(cache, question, held: held, conditions: conditions))
    case .fetch: return .ask(CacheUse(cache, question, held: held))
    }
  }

  /// What is held as the answer, also to conditions of the caller's own, and in parts; nil: only the origin can tell.
  func answer(
    _ operation: NetworkOperation, _ question: CacheQuestion, _ held: HeldAnswer, _ parts: [ResponseBytes],
    _ cache: EngineCache
  ) -> NetworkResponse? {
    guard question.request.isOwn else { return response(operation, held, .cache, cache) }
    let selection = StoredSelection(question.request, question.fields, stored: held.stored)
    if selection == .origin { return nil }
    return response(operation, held, .cache, cache, selection, parts)
  }

  /// A stored redirect is the answer only for operations that do not follow it; the others are sent on.
  func leadsElsewhere(_ held: HeldAnswer, _ operation: NetworkOperation) -> Bool {
    guard (300..<400).contains(held.stored.status) else { return false }
    let request = operation.sent
    let policy = request.redirects.over(operation.engine.configuration.redirects)
    let location = try? RedirectDecision.location(
      status: held.stored.status, fields: held.stored.headers, policy: policy)
    return location != nil
  }

  /// What the request asks, and what was found for it before; nil for what no cache may answer.
  func asked(_ operation: NetworkOperation, _ request: NetworkRequest, _ cache: EngineCache) -> AskedCache? {
    let history = operation.loop.history
    if let asked = operation.takeAsked(), history?.asksWhatItSays(request) ?? true,
      !cache.isOutdated(asked.question)
    {
      return asked
    }
    let method = history?.target.method ?? request.method
    guard method == .get || method == .head, !request.hasBody, !request.isForRest else { return nil }
    return question(operation, request, method, cache).map { AskedCache(question: $0, found: nil) }
  }

  /// What a request by this method would ask, at the operation's target and with its fields.
  func question(
    _ operation: NetworkOperation, _ request: NetworkRequest, _ method: Method, _ cache: EngineCache
  ) -> CacheQuestion? {
    guard let origin = operation.loop.origin else { return nil }
    let target = operation.loop.history?.target
    let url = target?.url ?? request.url
    let own = target?.headers ?? request.headers
    return cache.question(
      request, method: method, origin: origin.text.utf8.span,
      target: url.utf8.span.extracting(droppingFirst: PlainURL.targetOffset(url)), own: own,
      from: cache.sender(
        own: own, operation.account(request), to: origin.text.utf8.span, isForeign: target?.isForeign ?? false
      ))
  }

  /// The answer that is served, and counted as served: no caller is given what a request of ours brought up to date.
  func response(
    _ operation: NetworkOperation, _ held: HeldAnswer, _ source: NetworkResponse.Source, _ cache: EngineCache,
    _ selection: StoredSelection = .whole, _ parts: [ResponseBytes] = []
  ) -> NetworkResponse {
    let request = operation.sent
    let method = operation.loop.history?.target.method ?? request.method
    var held = held
    var response = held.takeResponse(
      from: source, url: operation.loop.history?.target.url ?? request.url, now: cache.now,
      withBody: method != .head, lifetime: request.cacheLifetime?.seconds)
    response.select(selection, of: held.stored, parts)
    operation.forEachRecipient { if !$0.loop.isRefresh { $0.engine.cache?.didServe(response.body.count) } }
    if source == .revalidated { cache.didValidate() }
    response.metrics.redirects = operation.loop.history?.redirects?.hops ?? 0
    return response
  }
}

/// The cache behind the network: what the head of an answer means for it.
extension CacheBridge {
  /// Notes what will be stored. In the middle of libcurl's work.
  func noteHead(_ use: CacheUse, _ transfer: Transfer, _ head: ResponseHead) {
    // It may have been sent with other cookies than it was looked up for.
    guard !use.cache.isOutdated(use.question) else { return }
    use.findings.entry = StoreDecision.entry(
      StoreDecision.Exchange(
        request: use.question.request, requestHeaders: use.question.fields, head: head,
        requestedAt: use.findings.requestedAt, receivedAt: use.cache.now, isComplete: transfer.showsItsEnd),
      rules: use.cache.rules)
    if use.cache.settings.egress.isRule { use.findings.entry?.peer = transfer.exchange.peer }
    if let claim = use.claim, !isForOthers(use, transfer) { claim.giveUp() }
  }

  /// Others that wait for this answer can be given it.
  private func isForOthers(_ use: CacheUse, _ transfer: Transfer) -> Bool {
    guard let entry = use.findings.entry,
      CacheDecision.serves(use.question.request, stored: entry, now: use.cache.now)
    else { return false }
    return transfer.announcedBytes.map { $0 <= use.cache.settings.bodyBytesMax } ?? true
  }

  /// A 304 to our conditions; false when it is about something else and the whole answer must be asked for.
  func noteNotModified(_ use: CacheUse, _ head: ResponseHead) -> Bool {
    guard !use.cache.isOutdated(use.question) else { return false }
    let result = use.held?.stored.notModified(
      head, requestedAt: use.findings.requestedAt, receivedAt: use.cache.now, rules: use.cache.rules)
    use.findings.notModified = result
    return result != nil && result != .mismatched
  }

  /// Where a streamed body is kept while it comes; nil: it is not going to be stored.
  func spool(_ use: CacheUse, _ transfer: Transfer, at place: BodySpool.Place) -> BodySpool? {
    guard let entry = use.findings.entry, use.question.request.method == .get else { return nil }
    // What is announced is the length of what is sent; decoded it has another.
    let isEncoded = transfer.exchange.plan.decodes && transfer.parser.framing.hasContentEncoding
    if !isEncoded, let announced = transfer.announcedBytes {
      guard announced <= use.cache.settings.bodyBytesMax, place.room.fits(announced) else { return nil }
    }
    // A part is put to others in memory.
    return BodySpool(at: place, bytesMax: use.cache.settings.bodyBytesMax, staysInMemory: entry.status == 206)
  }
}

extension NetworkOperation {
  fileprivate func takeAsked() -> AskedCache? {
    shared.withLock { shared in
      defer { shared.asked = [] }
      return shared.asked.first
    }
  }
}
