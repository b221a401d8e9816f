internal import Dispatch
internal import Synchronization

/// Where operations leave the queue for the store, and come back with their outcome.
extension Scheduler {
  // MARK: Operations

  /// From now on the request is the store's, and the operation waits for what becomes of it.
  func freeze(_ operation: NetworkOperation, _ request: NetworkRequest) {
    guard let freezing = operation.engine.freezing, let origin = operation.loop.origin else {
      move(operation, to: .ended)
      return conclude(operation, NetworkError(.engineClosed))
    }
    timers.cancel(operation.loop.history?.queueDeadline)
    move(operation, to: .frozen(freezing.freezer))
    let submission = submission(of: operation, request, origin: origin.text, freezing)
    if !freezing.freezer.dispatch({ $0.accept(submission) }) {
      endFrozen(operation, .failure(NetworkError(.engineClosed)))
    }
  }

  private func submission(
    of operation: NetworkOperation, _ request: NetworkRequest, origin: String, _ freezing: EngineFreezing
  ) -> FrozenSender.Submission {
    let own = request.extra
    let keyField = freezing.configuration.idempotencyKeyField ?? ""
    let credential = operation.account(request)
    var frozen = FrozenRequest(
      method: request.method, url: operation.loop.history?.target.url ?? request.url,
      key: request.givenKey(in: keyField) ?? IdempotencyKey(),
      lane: "\(freezing.scope)\n\(own.freezing.lane ?? origin)")
    var headers = request.headers
    if !keyField.isEmpty { for name in [IdempotencyKey.fieldName, keyField] { headers.remove(name: name) } }
    frozen.setHeaders(headers) { operation.engine.fieldMeaning.isSecret($0) }
    frozen.secretFields += (credential?.fieldNames ?? []).filter { !headers.contains($0) }
    frozen.keyField = keyField
    frozen.tag = own.tag
    frozen.scope = freezing.scope
    frozen.dedupeKey = own.freezing.dedupeKey.map { "\(freezing.scope)\n\($0)" }
    frozen.userInfo = own.freezing.userInfo
    var body: [UInt8] = []
    if case .bytes(let bytes) = own.prepared { body = bytes }
    let store = freezing.freezer.settings
    let draft = FrozenDraft(
      frozen, body: body, options: own.freezing,
      lifetime: own.freezing.lifetime ?? freezing.configuration.lifetime, limits: store.limits,
      at: store.now())
    return FrozenSender.Submission(
      operation, draft,
      FrozenSender.Secrets(headers: headers, settings: request.settings(with: credential)))
  }

  /// Its request is on the disk.
  func didFreeze(_ operation: NetworkOperation, _ ticket: FrozenTicket) {
    loop.assertOnLoop()
    guard case .frozen = operation.loop.phase else { return }
    operation.loop.isFrozen = true
    context.set(.frozen, operation)
    context.tell(operation, .frozen(ticket))
  }

  /// Its request waits again: for the next attempt, as the record says, or without having made one.
  func didAttempt(
    _ operation: NetworkOperation, _ record: FrozenRecord?, _ failure: NetworkError?,
    _ answer: NetworkResponse?
  ) {
    loop.assertOnLoop()
    context.set(.frozen, operation)
    guard let record, operation.shared.withLock({ $0.handlers.wantsAttempts }) else { return }
    var error = failure ?? NetworkError(record.lastError ?? .status)
    if failure == nil, record.facts.lastStatus > 0 {
      error.underlying = .http(Int(record.facts.lastStatus))
      error.reason = "\(record.facts.lastStatus)"
      error.sendState = .answered
      error.response = answer
    }
    error.attempts = Int(record.facts.attempts)
    context.tell(operation, .attempt(Int(record.facts.attempts), error.about(operation.sent.url)))
  }

  func endFrozen(_ operation: NetworkOperation, _ outcome: NetworkOperation.Outcome) {
    loop.assertOnLoop()
    guard case .frozen = operation.loop.phase else { return }
    move(operation, to: .ended)
    // It did not count while it was frozen.
    if operation.loop.isFrozen { driver.pending.add(1, ordering: .relaxed) }
    operation.loop.isFrozen = false
    if case .success = outcome { operation.shared.withLock { $0.isSuccess = true } }
    conclude(operation, outcome)
  }

  // MARK: The end

  /// The time that the freezers have to let go of an engine once its deadline has passed. They need less (`FrozenSender.leave`),
  /// unless the disk keeps their thread: then it is the loops that end what they have. 3 s.
  static let storePatience = Duration.seconds(3)

  /// The queue closes: what its operations wait for is the store's from now on, and other queues' or the next process's to
  /// send. The store goes on without this queue.
  func leaveStores() {
    let end = DispatchTime.now() + Self.storePatience.seconds
    for freezer in driver.freezers {
      let done = DispatchSemaphore(value: 0)
      let isOpen = freezer.dispatch { [driver] in
        $0.leave({ $0.driver === driver }, deadline: .zero, awaitsHandlers: false) { done.signal() }
      }
      if isOpen { _ = done.wait(timeout: end) }
    }
  }

  /// The store says no more to it, and has its request: for certain, or perhaps.
  func giveUpFrozen(_ operation: NetworkOperation) {
    guard case .frozen = operation.loop.phase else { return }
    let perhaps = NetworkError(.engineClosed, sendState: .maybeProcessed)
    endFrozen(operation, operation.loop.isFrozen ? .handedOver : .failure(perhaps))
  }
}

extension NetworkRequest {
  /// The key that its author chose, in the engine's field for it or the usual one.
  fileprivate func givenKey(in field: String) -> IdempotencyKey? {
    if let key = extra.idempotencyKey { return IdempotencyKey(key) }
    guard let value = headers.first(field) ?? headers.first(IdempotencyKey.fieldName) else { return nil }
    let isQuoted = value.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
    return IdempotencyKey(isQuoted ? String(value.dropFirst().dropLast()) : value)
  }

  /// What it brings besides what is written down.
  fileprivate func settings(with credential: NetworkCredentials?) -> NetworkRequest {
    var settings = NetworkRequest(url: "")
    settings.cachePolicy = cachePolicy
    settings.extra.timeouts = extra.timeouts
    settings.extra.redirects = extra.redirects
    settings.extra.cacheKey = extra.cacheKey
    settings.extra.credentialScope = extra.credentialScope
    settings.extra.credentials = credential
    return settings
  }
}
