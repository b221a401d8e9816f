internal import Synchronization

/// The cache before the network.
extension Scheduler {
  /// True when what is held was the answer, or nothing may be asked.
  func consult(_ operation: NetworkOperation, _ request: NetworkRequest) -> Bool {
    operation.loop.cacheUse = nil
    guard let cache = operation.engine.cache else { return refuseOffline(operation, request.cachePolicy) }
    guard let question = question(operation, request, cache) else {
      return refuseOffline(operation, request.cachePolicy ?? cache.settings.defaultPolicy)
    }
    let held = cache.held(for: question).flatMap { leadsElsewhere($0, operation) ? nil : $0 }
    let use: CacheUse
    switch CacheDecision.make(for: question.request, stored: held?.stored, now: cache.now) {
    case .bypass: return false
    case .notCached:
      endLeader(operation, NetworkError(.notCached))
      return true
    case .serve:
      guard let held else { return false }
      serve(operation, held, cache)
      return true
    case .serveAndRevalidate(let conditions):
      use = CacheUse(cache, question, held: held, conditions: conditions)
      if let held, !operation.loop.isRefresh, provide(operation, held, use) { return true }
    case .revalidate(let conditions): use = CacheUse(cache, question, held: held, conditions: conditions)
    case .fetch: use = CacheUse(cache, question, held: held)
    }
    operation.loop.cacheUse = use
    return false
  }

  /// A stored redirect is the answer only for those who do not follow it.
  private func leadsElsewhere(_ held: HeldAnswer, _ operation: NetworkOperation) -> Bool {
    guard (300..<400).contains(held.stored.status) else { return false }
    let request = operation.request
    let policy = request.redirects ?? operation.engine.configuration.redirects
    let location = try? RedirectDecision.location(
      status: held.stored.status, fields: held.stored.headers, policy: policy)
    return location != nil
  }

  /// Without a cache nothing is held, nor for what no cache may answer.
  private func refuseOffline(_ operation: NetworkOperation, _ policy: CachePolicy?) -> Bool {
    guard policy == .onlyIfCached else { return false }
    endLeader(operation, NetworkError(.notCached))
    return true
  }

  private func question(_ operation: NetworkOperation, _ request: NetworkRequest, _ cache: EngineCache)
    -> CacheQuestion?
  {
    let exchangeState = operation.loop.exchangeState
    // The request is still what it was on the thread that enqueued it, unless it has a exchangeState.
    if let question = operation.takeQuestion(), exchangeState == nil { return question }
    let method = exchangeState?.method ?? request.method
    guard method == .get || method == .head, request.isWithoutBody else { return nil }
    guard let origin = operation.loop.origin else { return nil }
    let url = exchangeState?.url ?? request.url
    return cache.question(
      request, method: method, origin: origin.text.utf8.span,
      target: url.utf8.span.extracting(droppingFirst: PlainURL.targetOffset(url)),
      fields: sentFields(operation, request))
  }

  /// Nil for a request that sends the engine's own fields and no others.
  private func sentFields(_ operation: NetworkOperation, _ request: NetworkRequest) -> Headers? {
    let exchangeState = operation.loop.exchangeState
    let own = exchangeState?.headers ?? request.headers
    let isForeign = exchangeState?.isForeign ?? false
    let credential = exchangeState?.credential ?? request.credentials
    if own.count == 0, !isForeign, credential == nil { return nil }
    return SentFields.make(
      defaults: isForeign ? Headers() : operation.engine.askedFields,
      own: isForeign ? own : SentFields.add(credential, to: own), decodes: !own.contains("Range"))
  }

  // MARK: Serving

  private func serve(_ operation: NetworkOperation, _ held: HeldAnswer, _ cache: EngineCache) {
    answer(operation, response(operation, held, .cache, cache))
  }

  func response(
    _ operation: NetworkOperation, _ held: HeldAnswer, _ source: NetworkResponse.Source, _ cache: EngineCache
  ) -> NetworkResponse {
    let request = operation.request
    let method = operation.loop.exchangeState?.method ?? request.method
    var held = held
    var response = held.takeResponse(
      from: source, url: operation.loop.exchangeState?.url ?? request.url, now: cache.now,
      withBody: method != .head
    )
    response.metrics.redirects = operation.loop.exchangeState?.history?.hops ?? 0
    return response
  }

  /// What is held goes out now, and what is new comes later. True when the operation ends with it, which then
  /// leaves the renewal to one of its own.
  private func provide(_ operation: NetworkOperation, _ held: HeldAnswer, _ use: CacheUse) -> Bool {
    guard use.question.request.policy == .cachedThenFresh else {
      let request = operation.request
      serve(operation, held, use.cache)
      refresh(request, operation.engine)
      return true
    }
    var early = response(operation, held, .cache, use.cache)
    early.isFinal = false
    use.early = early
    for recipient in recipients(of: operation) { provide(recipient, early) }
    return false
  }

  /// Once for each, however many exchanges follow; streams get one body, the final one.
  func provide(_ recipient: NetworkOperation, _ early: NetworkResponse) {
    guard recipient.loop.extras?.provided == nil, !hasStreams(recipient) else { return }
    recipient.makeExtras().provided = early.body
    tell(recipient, .provisional(early))
  }

  /// Brings a stored answer up to date, for nobody in particular.
  private func refresh(_ request: NetworkRequest, _ engine: NetworkEngine) {
    guard !isClosing, !engine.isClosed.load(ordering: .acquiring) else { return }
    let refresh = NetworkOperation(request, engine: engine)
    refresh.loop.isRefresh = true
    refresh.onError { _ in }  // nobody asked, so nobody hears of it
    driver.pending.add(1, ordering: .relaxed)
    later { [unowned self] in submit(refresh) }
  }
}

extension NetworkOperation {
  fileprivate func takeQuestion() -> CacheQuestion? {
    shared.withLock { shared in
      defer { shared.question = [] }
      return shared.question.first
    }
  }
}

extension NetworkRequest {
  fileprivate var isWithoutBody: Bool {
    guard hasExtras else { return true }
    if case .none = extra.prepared { return !extra.resumes }
    return false
  }
}
