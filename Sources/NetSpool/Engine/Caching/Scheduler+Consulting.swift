internal import Synchronization

/// The cache before the network.
extension Scheduler {
  /// What becomes of an operation that the cache has not answered.
  enum AfterLook {
    case wait(atFront: Bool)
    /// Shares an exchange, or has one that others share.
    case share
  }

  /// Answers with what is held, or refuses what may not be asked; else it goes on.
  ///
  /// - Parameter claim: another has asked for the same just now, and its answer may be there; it is this one's turn to ask.
  func consult(
    _ operation: NetworkOperation, _ request: NetworkRequest, then next: AfterLook, after claim: Claim? = nil
  ) {
    if operation.loop.cacheUse != nil { releaseValidation(operation) }
    operation.loop.cacheUse = nil
    // Most engines have none.
    if operation.engine.cache == nil, request.cachePolicy != .onlyIfCached {
      return act(on: .ask(nil), operation, request, next)
    }
    switch cacheBridge.ask(operation, request) {
    case .settled(let consultation): act(on: consultation, operation, request, next)
    case .look(let cache, let question, let found?):
      let look = LoopLook(held: found.held.first)
      act(on: cacheBridge.consult(operation, cache, question, look), operation, request, next)
    case .look(let cache, let question, nil):
      let isFirst = operation.loop.history?.asksWhatItSays(request) ?? true
      look(operation, cache, { cache.look(for: question, request, isFirst: isFirst) }) {
        [unowned self] look in
        let consultation = cacheBridge.consult(operation, cache, question, look)
        // What is stored is news for others, too; else it claims once more when its turn has come.
        if case .answer = consultation { claim?.finish() } else { claim?.release() }
        act(on: consultation, operation, request, next)
      }
    }
  }

  private func act(
    on consultation: CacheBridge.Consultation, _ operation: NetworkOperation, _ request: NetworkRequest,
    _ next: AfterLook
  ) {
    switch consultation {
    case .ask(let use):
      operation.loop.cacheUse = use
      if let use, awaitValidation(operation, use) { return }
    case .provide(let use):
      operation.loop.cacheUse = use
      if let early = use.early { for recipient in operation.recipients { provide(recipient, early) } }
    case .answer(let response, let renews):
      answer(operation, response)
      if renews { refresh(request, operation.engine) }
      return
    case .refuse(let failure): return publish(operation, failure)
    }
    switch next {
    case .wait(let atFront): wait(operation, operation.sentPriority, atFront: atFront)
    case .share: share(operation, request)
    }
  }

  /// Looks into the store, on a thread that may wait for the disk (`StoreLooker`), and goes on with what was found: without,
  /// when the disk takes its time.
  func look(
    _ operation: NetworkOperation, _ cache: EngineCache, _ find: @escaping @Sendable () -> LoopLook,
    then: @escaping (LoopLook) -> Void
  ) {
    if loop.timeline != nil { return then(find()) }  // a model has one thread
    suspend(operation, for: .look(then), atMost: UInt64(StoreLooker.patience / 1_000)) { [unowned self] _ in
      goOn(operation, LoopLook(held: nil))
    }
    // Whoever is being looked for stays on this loop; one whose look took too long may be gone.
    let (port, number) = (port, operation.currentWait?.timer)
    let isTaken = cache.store.look {
      let found = find()
      port.perform { core in
        if core.has(operation) { core.goOn(operation, found, number) }
      }
    }
    if !isTaken { goOn(operation, LoopLook(held: nil)) }
  }

  /// - Parameter number: of the look, which tells it from the operation's next.
  private func goOn(_ operation: NetworkOperation, _ found: LoopLook, _ number: TimerTable.Key? = nil) {
    guard let wait = operation.currentWait, case .look(let then) = wait.reason,
      number == nil || number == wait.timer
    else { return }
    move(operation, to: .deciding)
    then(found)
    loop.markDirty()
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
    // Where it was led to another loop, its own origin is elsewhere.
    if !isAlone { return _ = driver.submit(refresh, limit: .max) }
    driver.pending.add(1, ordering: .relaxed)
    later { [unowned self] in submit(refresh) }
  }
}
