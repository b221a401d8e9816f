internal import Synchronization

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
  /// While it has its turn: no other process asks for the same.
  var claim: Claim?
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

  /// The same for a body that turns out to be longer than what was set aside: twice as much, if there is room.
  func grownKeptBytesMax(_ use: CacheUse?, _ transfer: Transfer, beside running: [Transfer]) -> Int {
    let held = transfer.exchange.keptBytesMax
    guard let use, let wanted = Int(exactly: max(transfer.bodyBytes, Int64(2 * held))) else { return held }
    let room = Self.keptBytesMax - running.reduce(0) { $0 + $1.exchange.keptBytesMax }
    let grown = min(wanted, use.cache.settings.bodyBytesMax)
    return grown - held <= room ? grown : held
  }

  // MARK: At the end

  /// What the end of an exchange means for the cache, and what the cache makes of it: a 304 becomes the stored
  /// answer, and where no answer came a stale one may stand in.
  mutating func settle(
    _ operation: NetworkOperation, _ transfer: Transfer, _ ending: inout Ending
  ) {
    guard let use = operation.loop.cacheUse else { return }
    defer { if let claim = use.claim { use.cache.store.finish(claim) } }
    if let held = use.held, let cause = staleCause(ending), mayStandIn(operation, transfer),
      held.stored.mayServeStale(after: cause, to: use.question.request, now: use.cache.now),
      use.cache.isHeld(held)
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
    // A part is not what was asked for, unless it is the very part.
    guard operation.loop.cacheUse?.held?.stored.parts == nil else { return false }
    return !transfer.exchange.hasStreamed && operation.loop.cacheUse?.hasOpenedStreams != true
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
    if answer.head.status == 304 { return update(by: answer, use) }
    if let entry = use.findings.entry, let body = storedBody(answer, transfer, use) {
      if answer.head.status == 206 {
        return storePart(answer, body, entry, use, askedAt: transfer.exchange.startedAt)
      }
      return put(entry, body, transfer, use)
    }
    use.claim?.giveUp()
    if let held = use.held, Self.takesPlace(answer.head.status), answer.head.status != 206 {
      use.cache.remove(held)  // older than this answer, which must not be stored
    }
  }

  private func put(_ entry: StoredResponse, _ body: [UInt8], _ transfer: Transfer, _ use: CacheUse) {
    var entry = entry
    if transfer.exchange.decoder != nil { entry.facts.flags.insert(.isDecoded) }
    if let operation = transfer.exchange.owner as? NetworkOperation, let tag = operation.request.tag {
      entry.tags = [tag]
    }
    use.cache.put(entry, body, for: use.question, askedAt: transfer.exchange.startedAt)
  }

  /// An answer of this status says what the resource is now, or that it is gone (RFC 9111 section 4.3.3).
  private static func takesPlace(_ status: Int) -> Bool { status < 400 || status == 404 || status == 410 }

  /// A redirect that is about to be followed.
  func storeRedirect(_ operation: NetworkOperation, _ transfer: Transfer) {
    guard let use = operation.loop.cacheUse, use.question.request.method == .get else { return }
    if let entry = use.findings.entry, transfer.exchange.collected.count == Int(transfer.bodyBytes) {
      put(entry, transfer.takeCollected(), transfer, use)
      if let claim = use.claim { use.cache.store.finish(claim) }
      return
    }
    use.claim?.giveUp()
    if let held = use.held {
      use.cache.remove(held)
    }
  }

  /// The origin has answered conditions of the caller's own.
  private func update(by answer: NetworkResponse, _ use: CacheUse) {
    guard let held = use.held else { return }
    let result = held.stored.notModified(
      answer.head, requestedAt: use.findings.requestedAt, receivedAt: use.cache.now, rules: use.cache.rules)
    // Which of the caller's validators it was, only the 304 itself tells.
    if case .updated(let stored) = result, held.stored.matches(answer.head.headers) == true {
      use.cache.update(held, to: stored)
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

  /// An unsafe request has been answered (RFC 9111 section 4.4), perhaps with a redirect. At its head: what comes of its
  /// body changes nothing about it.
  func invalidate(_ operation: NetworkOperation, _ head: ResponseHead, _ coalescer: inout Coalescer) {
    let history = operation.loop.history
    let method = history?.target.method ?? operation.shared.withLock { $0.request.method }
    guard Invalidation.applies(method: method, status: head.status) else { return }
    let cache = operation.engine.cache
    if cache == nil, coalescer.isEmpty { return }
    let targets = Invalidation.targets(history?.target.url ?? operation.request.url, head)
    for target in targets { coalescer.fence(target) }
    // Its user hears of it when the store has it: whoever reads then, reads what is new.
    let custom = history == nil ? operation.request.cacheKey : nil
    if let cache, cache.invalidate(targets, custom: custom) { operation.makeExtras().unwritten = cache }
  }

  /// The user has been given these very bytes from the cache and asked to hear of changes only.
  func repeats(_ recipient: NetworkOperation, _ answer: NetworkResponse) -> Bool {
    guard let provided = recipient.loop.extras?.provided else { return false }
    let request = recipient.request
    guard request.notifiesOnlyChanges else { return false }
    return answer.body.hasSameBytes(as: provided)
  }
}
