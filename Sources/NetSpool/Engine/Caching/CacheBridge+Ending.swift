/// The cache behind the network: what the end of an exchange means for it.
extension CacheBridge {
  /// What the end of an exchange means for the cache, and what the cache makes of it: a 304 becomes the stored
  /// answer, and where no answer came a stale one may stand in.
  func finish(_ use: CacheUse, _ operation: NetworkOperation, _ transfer: Transfer, _ ending: inout Ending) {
    defer { if let claim = use.claim, !use.isBeingKept { use.cache.store.finish(claim) } }
    if let held = standIn(use, operation, transfer, ending) {
      use.standIn = held
    } else if ending.failure == nil, let fresh = ending.answer {
      if let result = use.findings.notModified, let held = use.held {
        ending.answer = revalidated(operation, held, result, use.cache)
        ending.answer?.metrics = fresh.metrics
      } else {
        store(fresh, transfer, use, of: operation)
      }
    }
  }

  /// The older answer that may take the place of an exchange's.
  func standIn(
    _ use: CacheUse, _ operation: NetworkOperation, _ transfer: Transfer, _ ending: Ending
  ) -> HeldAnswer? {
    guard let held = use.held, let cause = staleCause(ending), mayStandIn(operation, transfer),
      held.stored.mayServeStale(after: cause, to: use.question.request, now: use.cache.now)
    else { return nil }
    return held
  }

  /// Streams have not begun with another body, and a recipient has not been given what is held already.
  private func mayStandIn(_ operation: NetworkOperation, _ transfer: Transfer) -> Bool {
    !transfer.exchange.hasStreamed && operation.loop.cacheUse?.hasOpenedStreams != true
      && operation.recipients.contains { $0.loop.extras?.provided == nil }
  }

  private func revalidated(
    _ operation: NetworkOperation, _ held: HeldAnswer, _ result: NotModified, _ cache: EngineCache
  ) -> NetworkResponse {
    cache.apply(result, to: held)
    let newest = if case .updated(let stored) = result { held.updated(stored) } else { held }
    return response(operation, newest, .revalidated, cache)
  }

  private func store(
    _ answer: NetworkResponse, _ transfer: Transfer, _ use: CacheUse, of operation: NetworkOperation
  ) {
    if use.question.request.method == .head { return updateByHead(answer, use) }
    if answer.head.status == 304 { return update(by: answer, use) }
    guard let entry = use.findings.entry, transfer.completeness == .whole,
      transfer.bodyBytes <= use.cache.settings.bodyBytesMax
    else { return storeNothing(answer, use, use.claim) }
    if let body = bodyInMemory(answer, transfer) {
      if answer.head.status == 206 { return putPart(answer, body, entry, transfer, use, of: operation) }
      if let duty = put(entry, body, transfer, use, of: operation) {
        operation.makeExtras().unwritten.append(duty)
      }
      return
    }
    guard let spool = transfer.exchange.spool else { return storeNothing(answer, use, use.claim) }
    // The last of it may be on its way to the disk.
    use.isBeingKept = true
    let whole = complete(entry, transfer, of: operation)
    let (bridge, cache, question, claim) = (self, use.cache, use.question, use.claim)
    let askedAt = transfer.exchange.startedAt
    spool.onKept = { file in
      guard let file else {
        bridge.storeNothing(answer, use, claim)
        return claim.map { cache.store.finish($0) } ?? ()
      }
      let put: @Sendable () -> Void = {
        cache.put(whole, .spooled(file), for: question, askedAt: askedAt)
        if let claim { cache.store.finish(claim) }
      }
      // Where it stands, the index of the variants says, and a loop does not look there.
      guard cache.mustLook(beforePutting: whole, for: question) else { return put() }
      if !cache.store.look(put) { cache.store.remove(question.primaryKey) }
    }
  }

  /// The body, if it came into memory.
  func bodyInMemory(_ answer: NetworkResponse, _ transfer: Transfer) -> [UInt8]? {
    if answer.body.count == Int(transfer.bodyBytes) { return answer.body.array }
    guard let bytes = transfer.exchange.spool?.wholeBeginning, bytes.count == Int(transfer.bodyBytes) else {
      return nil
    }
    return bytes
  }

  private func putPart(
    _ answer: NetworkResponse, _ body: [UInt8], _ entry: StoredResponse, _ transfer: Transfer,
    _ use: CacheUse, of operation: NetworkOperation
  ) {
    let askedAt = transfer.exchange.startedAt
    let (cache, question, claim) = (use.cache, use.question, use.claim.take())
    let duty = StoreDuty(cache: cache, bytes: body.count) { done in
      cache.storePart(answer, body, entry, for: question, askedAt: askedAt)
      if let claim { cache.store.finish(claim) }
      done()
    }
    operation.makeExtras().unwritten.append(duty)
  }

  private func storeNothing(_ answer: NetworkResponse, _ use: CacheUse, _ claim: Claim?) {
    claim?.giveUp()
    if let held = use.held, Self.takesPlace(answer.head.status),
      answer.head.status != 206 || held.stored.isOutdated(byPart: answer.head.headers)
    {
      // Older than this answer, which must not be stored.
      use.cache.remove(held, after: answer.head.status)
    }
  }

  /// Returns what is still to be done where a loop does not look.
  func put(
    _ entry: StoredResponse, _ body: [UInt8], _ transfer: Transfer, _ use: CacheUse,
    of operation: NetworkOperation, askedAt: Microseconds? = nil
  ) -> StoreDuty? {
    let entry = complete(entry, transfer, of: operation)
    let (cache, question, askedAt) = (use.cache, use.question, askedAt ?? transfer.exchange.startedAt)
    guard cache.mustLook(beforePutting: entry, for: question) else {
      cache.put(entry, .bytes(body), for: question, askedAt: askedAt)
      return nil
    }
    // Where it stands, the index of the variants says.
    let claim = use.claim.take()
    return StoreDuty(cache: cache, bytes: body.count, replaced: question.primaryKey) { done in
      cache.put(entry, .bytes(body), for: question, askedAt: askedAt)
      if let claim { cache.store.finish(claim) }
      done()
    }
  }

  /// With what is known at the end only.
  private func complete(
    _ entry: StoredResponse, _ transfer: Transfer, of operation: NetworkOperation
  ) -> StoredResponse {
    var entry = entry
    if transfer.exchange.decoder != nil { entry.facts.flags.insert(.isDecoded) }
    if let tag = operation.sent.tag { entry.tags = [tag] }
    return entry
  }

  /// An answer of this status says what the resource is now, or that it is gone (RFC 9111 section 4.3.3).
  private static func takesPlace(_ status: Int) -> Bool { status < 400 || status == 404 || status == 410 }

  /// A redirect that is about to be followed. Under a key of the caller's own stands where it leads.
  func storeRedirect(_ operation: NetworkOperation, _ transfer: Transfer) {
    guard let use = operation.loop.cacheUse, use.question.request.method == .get else { return }
    if operation.sent.cacheKey != nil {
      use.claim?.giveUp()
      return
    }
    if let entry = use.findings.entry, transfer.exchange.collected.count == Int(transfer.bodyBytes) {
      // Others do not wait until the operation ends.
      put(entry, transfer.takeCollected(), transfer, use, of: operation)?.begin {}
      if let claim = use.claim { use.cache.store.finish(claim) }
      return
    }
    use.claim?.giveUp()
    if let held = use.held { use.cache.remove(held) }
  }

  /// The origin has answered conditions of the caller's own.
  private func update(by answer: NetworkResponse, _ use: CacheUse) {
    guard let held = use.held else { return }
    let result = held.stored.notModified(
      answer.head, requestedAt: use.findings.requestedAt, receivedAt: use.cache.now, rules: use.cache.rules)
    // Which of the caller's validators it was, only the 304 itself tells.
    if case .updated = result, held.stored.matches(answer.head.headers) == true {
      use.cache.apply(result, to: held)
    }
  }

  private func updateByHead(_ answer: NetworkResponse, _ use: CacheUse) {
    guard let held = use.held else { return }
    let result = held.stored.updated(
      byHead: answer.head, requestedAt: use.findings.requestedAt, receivedAt: use.cache.now,
      rules: use.cache.rules)
    use.cache.apply(result, to: held, after: answer.head.status)
  }

  /// Why the answer could not be had; nil if it could, or if the reason is ours.
  private func staleCause(_ ending: Ending) -> StaleCause? {
    guard let failure = ending.failure else { return ending.answer.map { .status($0.head.status) } }
    return failure.code.traits.contains(.mayServeStale) ? .network : nil
  }

  /// An unsafe request has been answered (RFC 9111 section 4.4), perhaps with a redirect. At its head: what comes of its
  /// body changes nothing about it.
  func invalidate(
    _ operation: NetworkOperation, _ transfer: Transfer, _ head: ResponseHead, _ coalescer: Coalescer
  ) {
    let method = transfer.exchange.plan.method
    guard Invalidation.applies(method: method, status: head.status) else { return }
    let history = operation.loop.history
    let cache = operation.engine.cache
    let isElsewhere = operation.engine.driver.loops.count > 1 && history != nil
    if cache == nil, coalescer.isEmpty, !isElsewhere { return }
    let targets = Invalidation.targets(history?.target.url ?? operation.sent.url, head)
    for target in targets { coalescer.fence(target) }
    // A redirect may have led it to an origin that is another loop's, which hears of it before the user hears of the end.
    if isElsewhere {
      operation.engine.driver.performEverywhere(of: operation.engine.id) { core in
        for target in targets { core.coalescer.fence(target) }
      }
    }
    // Its user hears of it when the store has it: whoever reads then, reads what is new.
    let custom = history?.redirects?.hops ?? 0 == 0 ? operation.sent.cacheKey : nil
    guard let cache else { return }
    operation.makeExtras().unwritten.append(cache.invalidate(targets, custom: custom))
    if method == .post { notePosted(operation, transfer, head, cache) }
  }
}
