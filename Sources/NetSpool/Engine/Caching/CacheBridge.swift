internal import Synchronization

/// What the cache has to say before an exchange and after it. It owns no operation and does nothing to one: whoever asks
/// does what follows. Loop thread.
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

  func consult(_ operation: NetworkOperation, _ request: NetworkRequest) -> Consultation {
    guard let cache = operation.engine.cache else { return without(request.cachePolicy) }
    guard let question = question(operation, request, cache) else {
      return without(request.cachePolicy ?? cache.settings.defaultPolicy)
    }
    let held = cache.held(for: question).flatMap { leadsElsewhere($0, operation) ? nil : $0 }
    switch CacheDecision.make(for: question.request, stored: held?.stored, now: cache.now) {
    case .bypass: return .ask(nil)
    case .notCached: return .refuse(NetworkError(.notCached))
    case .serve:
      guard let held else { return .ask(nil) }
      return .answer(response(operation, held, .cache, cache), renews: false)
    case .serveAndRevalidate(let conditions):
      let use = CacheUse(cache, question, held: held, conditions: conditions)
      guard let held, !operation.loop.isRefresh else { return .ask(use) }
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

  /// Without a cache nothing is held, nor for what no cache may answer.
  private func without(_ policy: CachePolicy?) -> Consultation {
    policy == .onlyIfCached ? .refuse(NetworkError(.notCached)) : .ask(nil)
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

  private func question(_ operation: NetworkOperation, _ request: NetworkRequest, _ cache: EngineCache)
    -> CacheQuestion?
  {
    let history = operation.loop.history
    // The request is still what it was on the thread that enqueued it, unless it has a history.
    if let question = operation.takeQuestion(), history == nil, !cache.isOutdated(question) {
      return question
    }
    let method = history?.target.method ?? request.method
    guard method == .get || method == .head, request.isWithoutBody else { return nil }
    guard let origin = operation.loop.origin else { return nil }
    let url = history?.target.url ?? request.url
    return cache.question(
      request, method: method, origin: origin.text.utf8.span,
      target: url.utf8.span.extracting(droppingFirst: PlainURL.targetOffset(url)),
      fields: sentFields(operation, request))
  }

  /// Nil for a request that sends the engine's own fields and no others.
  private func sentFields(_ operation: NetworkOperation, _ request: NetworkRequest) -> Headers? {
    let history = operation.loop.history
    let own = history?.target.headers ?? request.headers
    let isForeign = history?.target.isForeign ?? false
    let credential = history?.authentication.credential ?? request.credentials
    if own.count == 0, !isForeign, credential == nil { return nil }
    return SentFields.make(
      defaults: isForeign ? Headers() : operation.engine.askedFields,
      own: isForeign ? own : SentFields.add(credential, to: own), decodes: !own.contains("Range"))
  }

  func response(
    _ operation: NetworkOperation, _ held: HeldAnswer, _ source: NetworkResponse.Source, _ cache: EngineCache
  ) -> NetworkResponse {
    let request = operation.request
    let method = operation.loop.history?.target.method ?? request.method
    var held = held
    var response = held.takeResponse(
      from: source, url: operation.loop.history?.target.url ?? request.url, now: cache.now,
      withBody: method != .head
    )
    response.metrics.redirects = operation.loop.history?.redirects?.hops ?? 0
    return response
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

/// What an exchange has to do with the cache, from the decision to its end. Loop thread.
final class CacheUse {
  let cache: EngineCache
  let question: CacheQuestion
  /// What is held, fresh or not.
  let held: HeldAnswer?
  /// Fields that make the request conditional; none: a plain one.
  let conditions: Headers
  /// What is held, as it was delivered before the origin was asked.
  var early: NetworkResponse?
  /// Of the exchange under way: assigned whole when it begins.
  var findings: Findings
  /// Streams have been opened for an answer from the network.
  var hasOpenedStreams = false

  /// What one exchange's head means.
  struct Findings {
    /// When the exchange began, in milliseconds since 1970.
    let requestedAt: Int64
    /// What will be stored once the body is whole.
    var entry: StoredResponse?
    /// What a 304 means.
    var notModified: NotModified?
  }

  init(_ cache: EngineCache, _ question: CacheQuestion, held: HeldAnswer?, conditions: Headers = .init()) {
    self.cache = cache
    self.question = question
    self.held = held
    self.conditions = conditions
    findings = Findings(requestedAt: cache.now)
  }

  var isConditional: Bool { conditions.count > 0 }

  func beginExchange() { findings = Findings(requestedAt: cache.now) }
}

/// The cache behind the network: what an exchange's head and end mean for it.
extension CacheBridge {
  /// What is kept of streamed bodies at once, for the cache alone; beyond it they are not cached.
  static let keptBytesMax = 32 << 20

  // MARK: At the head

  /// Notes what will be stored. In the middle of libcurl's work.
  func noteHead(_ use: CacheUse, _ transfer: Transfer, _ head: ResponseHead) {
    // It may have been sent with other cookies than it was looked up for.
    guard !use.cache.isOutdated(use.question) else { return }
    use.findings.entry = StoreDecision.entry(
      StoreDecision.Exchange(
        request: use.question.request, requestHeaders: use.question.fields, head: head,
        requestedAt: use.findings.requestedAt, receivedAt: use.cache.now,
        isComplete: transfer.showsItsEnd),
      rules: use.cache.rules)
  }

  /// A 304 to our conditions; false when it is about something else and the whole answer must be asked for.
  func noteNotModified(_ use: CacheUse, _ head: ResponseHead) -> Bool {
    guard !use.cache.isOutdated(use.question) else { return false }
    let result = use.held?.stored.notModified(
      head, requestedAt: use.findings.requestedAt, receivedAt: use.cache.now, rules: use.cache.rules)
    use.findings.notModified = result
    return result != nil && result != .mismatched
  }

  /// How much of a streamed body may be kept for the cache; 0: none.
  /// - Parameter running: the transfers that keep some already.
  func keptBytesMax(_ use: CacheUse, _ transfer: Transfer, beside running: [Transfer]) -> Int {
    guard use.findings.entry != nil else { return 0 }
    let room = Self.keptBytesMax - running.reduce(0) { $0 + $1.exchange.keptBytesMax }
    // What is announced is the length of what is sent; decoded it has another.
    let isEncoded = transfer.exchange.plan.decodes && transfer.parser.framing.hasContentEncoding
    let announced = isEncoded ? nil : transfer.announcedBytes
    let wanted = announced ?? Int64(min(use.cache.settings.bodyBytesMax, 1 << 20))
    return wanted <= min(room, use.cache.settings.bodyBytesMax) ? Int(wanted) : 0
  }

  // MARK: At the end

  /// What the end of an exchange means for the cache, and what the cache makes of it: a 304 becomes the stored
  /// answer, and where no answer came a stale one may stand in.
  mutating func settle(
    _ operation: NetworkOperation, _ transfer: Transfer, _ ending: inout Ending
  ) {
    if ending.failure == nil, let head = ending.answer?.head { invalidate(operation, head) }
    guard let use = operation.loop.cacheUse else { return }
    if let held = use.held, let cause = staleCause(ending), mayStandIn(operation, transfer),
      held.stored.mayServeStale(after: cause, to: use.question.request, now: use.cache.now)
    {
      ending = Ending(response(operation, held, .cache, use.cache))
    } else if ending.failure == nil, let fresh = ending.answer {
      if let result = use.findings.notModified, let held = use.held {
        ending.answer = revalidated(operation, held, result, use.cache)
        ending.answer?.metrics = fresh.metrics
      } else {
        store(fresh, transfer, use, of: operation)
      }
    }
  }

  /// Streams have not begun with another body, and somebody has not been given what is held already.
  private func mayStandIn(_ operation: NetworkOperation, _ transfer: Transfer) -> Bool {
    !transfer.exchange.hasStreamed && operation.loop.cacheUse?.hasOpenedStreams != true
      && operation.recipients.contains { $0.loop.extras?.provided == nil }
  }

  private func revalidated(
    _ operation: NetworkOperation, _ held: HeldAnswer, _ result: NotModified, _ cache: EngineCache
  ) -> NetworkResponse {
    var held = held
    switch result {
    case .updated(let stored):
      held = held.updated(stored)
      cache.update(held, to: stored)
    case .dropped: cache.remove(held)
    case .kept, .mismatched: break
    }
    return response(operation, held, .revalidated, cache)
  }

  private mutating func store(
    _ answer: NetworkResponse, _ transfer: Transfer, _ use: CacheUse, of operation: NetworkOperation
  ) {
    if use.question.request.method == .head { return updateByHead(answer, use) }
    if let entry = use.findings.entry, let body = storedBody(answer, transfer, use) {
      use.cache.put(entry, body, for: use.question)
    } else if let held = use.held, answer.head.status < 400 {
      use.cache.remove(held)  // older than this answer, which must not be stored
    }
  }

  /// Nil when it was not kept, or is too long.
  private func storedBody(_ answer: NetworkResponse, _ transfer: Transfer, _ use: CacheUse) -> [UInt8]? {
    guard transfer.bodyBytes <= use.cache.settings.bodyBytesMax, transfer.completeness == .whole else {
      return nil
    }
    let body = transfer.keptBody ?? answer.body.array
    return body.count == Int(transfer.bodyBytes) ? body : nil
  }

  private func updateByHead(_ answer: NetworkResponse, _ use: CacheUse) {
    guard let held = use.held else { return }
    let result = held.stored.updated(
      byHead: answer.head, requestedAt: use.findings.requestedAt, receivedAt: use.cache.now,
      rules: use.cache.rules)
    switch result {
    case .updated(let stored): use.cache.update(held, to: stored)
    case .outdated: use.cache.remove(held)
    case .unrelated: break
    }
  }

  /// Why the answer could not be had; nil if it could, or if the reason is ours.
  private func staleCause(_ ending: Ending) -> StaleCause? {
    guard let failure = ending.failure else { return ending.answer.map { .status($0.head.status) } }
    return failure.code.traits.contains(.mayServeStale) ? .network : nil
  }

  /// An unsafe request has been answered (RFC 9111 section 4.4), perhaps with a redirect.
  func invalidate(_ operation: NetworkOperation, _ head: ResponseHead) {
    guard let cache = operation.engine.cache else { return }
    let history = operation.loop.history
    let method = history?.target.method ?? operation.shared.withLock { $0.request.method }
    guard Invalidation.applies(method: method, status: head.status) else { return }
    let request = operation.request
    let isForeign = history?.target.isForeign ?? false
    let fields = SentFields.make(
      defaults: isForeign ? Headers() : operation.engine.headers,
      own: history?.target.headers ?? request.headers,
      decodes: true)
    cache.invalidate(
      history?.target.url ?? request.url, after: head,
      scope: cache.scope(own: request.credentialScope, fields),
      sentWith: fields)
  }

  /// The user has been given these very bytes from the cache and asked to hear of changes only.
  func repeats(_ recipient: NetworkOperation, _ answer: NetworkResponse) -> Bool {
    guard let provided = recipient.loop.extras?.provided else { return false }
    let request = recipient.request
    guard request.notifiesOnlyChanges else { return false }
    return answer.body.hasSameBytes(as: provided)
  }
}

/// The cache before the network.
extension Scheduler {
  /// True when what is held was the answer, or nothing may be asked.
  func consult(_ operation: NetworkOperation, _ request: NetworkRequest) -> Bool {
    operation.loop.cacheUse = nil
    switch cacheBridge.consult(operation, request) {
    case .ask(let use): operation.loop.cacheUse = use
    case .provide(let use):
      operation.loop.cacheUse = use
      if let early = use.early { for recipient in operation.recipients { provide(recipient, early) } }
    case .answer(let response, let renews):
      answer(operation, response)
      if renews { refresh(request, operation.engine) }
      return true
    case .refuse(let failure):
      publish(operation, failure)
      return true
    }
    return false
  }

  /// Once for each, however many exchanges follow; streams get one body, the final one.
  func provide(_ recipient: NetworkOperation, _ early: NetworkResponse) {
    guard recipient.loop.extras?.provided == nil, !recipient.hasStreams else { return }
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
