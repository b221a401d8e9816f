internal import Synchronization

/// Where operations leave the queue for the store, and come back with their outcome.
extension Scheduler {
  // MARK: Stores

  func begin(_ freezer: Freezer) {
    do throws(NetworkError) {
      dispatchers[ObjectIdentifier(freezer)] = try FrozenDispatcher(freezer, self)
    } catch {
      freezer.fail(error)
    }
  }

  /// Nobody uses this store any more.
  func end(_ dispatcher: FrozenDispatcher) {
    dispatcher.park()
    let key = ObjectIdentifier(dispatcher.freezer)
    // Behind the last words of the store.
    driver.perform { core in core.dispatchers.removeValue(forKey: key)?.close() }
  }

  func noteFrozen() {
    driver.frozen.store(dispatchers.values.reduce(0) { $0 + $1.count }, ordering: .relaxed)
  }

  // MARK: Attempts

  /// One that was redirected has been sent, whatever became of its last hop.
  func attempted(_ operation: NetworkOperation, _ outcome: NetworkOperation.Outcome)
    -> NetworkOperation.Outcome
  {
    guard case .failure(var failure) = outcome, failure.sendState == .notSent,
      operation.loop.exchangeState?.history?.hops ?? 0 > 0
    else { return outcome }
    failure.sendState = .maybeProcessed
    return .failure(failure)
  }

  // MARK: Operations

  /// From now on the request is the store's, and the operation waits for what becomes of it.
  func freeze(_ operation: NetworkOperation, _ request: NetworkRequest) {
    guard let freezing = operation.engine.freezing, let origin = operation.loop.origin else {
      move(operation, to: .ended)
      return conclude(operation, NetworkError(.engineClosed))
    }
    timers.cancel(operation.loop.exchangeState?.queueDeadline)
    move(operation, to: .frozen(freezing.freezer))
    freezing.freezer.accept(
      submission(of: operation, request, origin: origin.text, freezing.settings), from: self)
  }

  private func submission(
    of operation: NetworkOperation, _ request: NetworkRequest, origin: String,
    _ settings: EngineFreezing.Settings
  ) -> FrozenDispatcher.Submission {
    let (exchangeState, own) = (operation.loop.exchangeState, request.extra)
    let credential = own.credentials ?? exchangeState?.credential
    var frozen = FrozenRequest(
      method: request.method, url: exchangeState?.url ?? request.url,
      key: request.givenKey ?? IdempotencyKey(),
      lane: "\(settings.scope)\n\(own.freezing.lane ?? origin)")
    var headers = request.headers
    for name in [IdempotencyKey.fieldName, settings.keyField] where !name.isEmpty {
      headers.remove(name: name)
    }
    frozen.setHeaders(headers) { Redaction.standard.isSecret(header: $0) }
    if credential != nil, !headers.contains("Authorization") { frozen.secretFields.append("Authorization") }
    frozen.keyField = settings.keyField
    frozen.tag = own.tag
    frozen.scope = settings.scope
    frozen.dedupeKey = own.freezing.dedupeKey.map { "\(settings.scope)\n\($0)" }
    frozen.userInfo = own.freezing.userInfo
    var body: [UInt8] = []
    if case .bytes(let bytes) = own.prepared { body = bytes }
    return FrozenDispatcher.Submission(
      operation: operation, request: frozen, body: body,
      terms: FrozenSpool.Terms(own.freezing, lifetime: settings.lifetime), headers: headers,
      credential: credential, timeouts: own.timeouts)
  }

  /// Its request is on the disk.
  func didFreeze(_ operation: NetworkOperation, _ ticket: FrozenTicket) {
    operation.loop.isFrozen = true
    set(.frozen, operation)
    tell(operation, .frozen(ticket))
  }

  func endFrozen(_ operation: NetworkOperation, _ outcome: NetworkOperation.Outcome) {
    move(operation, to: .ended)
    // It did not count while it was frozen.
    if operation.loop.isFrozen { driver.pending.add(1, ordering: .relaxed) }
    operation.loop.isFrozen = false
    switch outcome {
    case .success:
      operation.shared.withLock { $0.isSuccess = true }
      conclude(operation, outcome)
    case .failure(let failure): conclude(operation, failure)
    }
  }
}

extension NetworkRequest {
  /// The key that its author chose.
  fileprivate var givenKey: IdempotencyKey? {
    if let key = extra.idempotencyKey { return IdempotencyKey(key) }
    guard let value = headers.first(IdempotencyKey.fieldName) else { return nil }
    let isQuoted = value.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
    return IdempotencyKey(isQuoted ? String(value.dropFirst().dropLast()) : value)
  }
}

extension FrozenSpool.Terms {
  fileprivate init(_ terms: FreezeOptions, lifetime: Duration) {
    self.init()
    self.lifetime = (terms.lifetime ?? lifetime).microseconds
    isUnordered = !terms.isOrdered
    isAtLeastOnce = terms.isAtLeastOnce
  }
}
