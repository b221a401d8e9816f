internal import Synchronization

/// Operations that come to be frozen, and those that are withdrawn.
extension FrozenSender {
  /// An operation's request on its way to the store.
  final class Submission: Sendable {
    let operation: NetworkOperation
    let draft: FrozenDraft
    let secrets: Secrets

    init(_ operation: NetworkOperation, _ draft: FrozenDraft, _ secrets: Secrets) {
      (self.operation, self.draft, self.secrets) = (operation, draft, secrets)
    }
  }

  func accept(_ submission: Submission) {
    accepting[submission.operation.id] = submission.operation
    spool.accept(submission.draft) { [unowned self] result in accepted(submission, result) }
  }

  private func accepted(_ submission: Submission, _ result: FrozenAnswer) {
    let operation = submission.operation
    let isUnwanted = unwanted.remove(operation.id) != nil
    guard accepting.removeValue(forKey: operation.id) != nil else {
      // Its engine could not wait for it: it is sent by the next that comes, if it is wanted.
      if isUnwanted, case .success(let receipt) = result, !receipt.isDuplicate {
        _ = spool.cancel(FrozenID(receipt.number))
      }
      return
    }
    switch result {
    case .failure(let failure):
      end(operation, .failure(isUnwanted ? NetworkError(.cancelled) : failure))
    case .success(let receipt):
      let id = FrozenID(receipt.number)
      // That one is lost: its row was found damaged, and its key stands there until the next opening.
      if receipt.isDuplicate, !spool.contains(id) {
        return end(operation, .failure(NetworkError(.storeCorrupt, reason: "record \(id.number)")))
      }
      // It comes behind the last of those who wanted that request: its own is a new one.
      if receipt.isDuplicate, !isUnwanted, spool.isBeingCancelled(id) { return accept(submission) }
      join(id, submission, isDuplicate: receipt.isDuplicate)
      if isUnwanted { withdraw(operation) }
    }
  }

  /// From now on the operation waits for a request that is on the disk.
  private func join(_ id: FrozenID, _ submission: Submission, isDuplicate: Bool) {
    let operation = submission.operation
    retainForTurn(operation.engine.driver)
    places[operation.id] = id
    if isDuplicate {
      waiting[id, default: Waiting()].operations.append(operation)
      // The first may be one of an earlier process.
      if waiting[id]?.secrets == nil { waiting[id]?.secrets = submission.secrets }
    } else {
      waiting[id] = Waiting(operations: [operation], secrets: submission.secrets)
    }
    let request = isDuplicate ? first(id) ?? submission.draft.request : submission.draft.request
    let ticket = FrozenTicket(
      id: id.number, idempotencyKey: request.key.text, isDuplicate: isDuplicate,
      withheldFields: request.secretFields, operation: operation)
    operation.perform { $0.didFreeze(operation, ticket) }
  }

  /// The request that came first with a key; it may have its end already, on the disk.
  private func first(_ id: FrozenID) -> FrozenRequest? {
    let record = spool.travelling[id]?.record ?? (try? freezer.store.record(id, at: freezer.settings.now()))
    return record?.request
  }

  /// Its user has left. One of several that wait for a request leaves it to the others.
  func withdraw(_ operation: NetworkOperation) {
    guard let id = places[operation.id] else {
      if accepting[operation.id] != nil { unwanted.insert(operation.id) }
      return
    }
    guard let others = waiting[id]?.operations, others.count > 1 else {
      _ = spool.cancel(id)
      return
    }
    waiting[id]?.operations.removeAll { $0 === operation }
    places[operation.id] = nil
    end(operation, .failure(NetworkError(.cancelled)))
  }

  func end(_ operation: NetworkOperation, _ outcome: NetworkOperation.Outcome) {
    operation.perform { $0.endFrozen(operation, outcome) }
  }
}

/// Attempts: an exchange like any other, whose outcome comes here instead of to a user.
extension FrozenSender: FrozenSpoolOwner {
  func maySend(_ id: FrozenID, _ record: FrozenRecord) -> Bool {
    guard let engine = engine(for: id, record.request),
      // What waits in a queue that stands still would count as sent if the process ended meanwhile.
      !engine.driver.settings.withLock({ $0.isSuspended }),
      engine.freezing?.configuration.maySend?(FrozenOperation(id, record)) ?? true,
      isOpen(engine, id, record.request.url)
    else { return false }
    retain(engine.driver, for: id)
    return true
  }

  func send(_ id: FrozenID, _ record: FrozenRecord, body: [UInt8]) {
    guard let engine = engine(for: id, record.request) else { return didEnd(id, .parked(.notSent)) }
    attempts[id] = Attempt(engine: engine)
    for operation in waiting[id]?.operations ?? [] {
      operation.perform { $0.context.set(.executing, operation) }
    }
    guard waiting[id]?.secrets == nil, !record.request.secretFields.isEmpty,
      let secrets = engine.freezing?.configuration.secrets
    else {
      return begin(id, record, body, waiting[id]?.secrets?.headers ?? Headers())
    }
    let freezer = freezer
    engine.deliverLate {
      let fields = secrets(FrozenOperation(id, record))
      freezer.dispatch { $0.begin(id, record, body, fields) }
    }
  }

  private func begin(_ id: FrozenID, _ record: FrozenRecord, _ body: [UInt8], _ secrets: Headers) {
    guard let engine = attempts[id]?.engine, spool.isMoving(id) else { return }
    if engine.isClosed { return didEnd(id, .parked(.notSent)) }
    do throws(NetworkError) { try HeaderRules.check(secrets) } catch {
      let failure = NetworkError(.invalidRequest, reason: "secrets")
      return didEnd(id, Self.event(failure), failure)
    }
    var request = record.request.attempt(body: body, secrets: secrets, waiting[id]?.secrets ?? Secrets())
    // Others may have come since, and each may have another one now.
    if let priority = waiting[id]?.operations.map(\.priorityByNow).max() { request.priority = priority }
    let attempt = NetworkOperation(request, engine: engine)
    forwardEvents(of: attempt, to: waiting[id]?.operations ?? [])
    let freezer = freezer
    let number = attempt.id
    attempt.onConclusion { result in
      freezer.dispatch { $0.attemptEnded(id, number, result) }
    }
    attempts[id]?.operation = attempt
    attempt.beginTrace(request, below: waiting[id]?.operations.first)
    guard let failure = engine.submitAttempt(attempt) else { return }
    attempt.endTrace(.failure(failure))
    didEnd(id, Self.event(failure))
  }

  private func forwardEvents(of attempt: NetworkOperation, to operations: [NetworkOperation]) {
    for operation in operations {
      let handlers = operation.shared.withLock {
        (
          upload: $0.handlers.wantsUpload, download: $0.handlers.wantsDownload,
          informational: $0.handlers.wantsInformational
        )
      }
      if handlers.upload { attempt.onUploadProgress { operation.deliverHere(.upload($0)) } }
      if handlers.download { attempt.onDownloadProgress { operation.deliverHere(.download($0)) } }
      if handlers.informational { attempt.onInformational { operation.deliverHere(.informational($0)) } }
    }
  }

  // MARK: What came of it

  private func attemptEnded(
    _ id: FrozenID, _ operation: UInt64, _ result: Result<NetworkResponse, NetworkError>
  ) {
    guard attempts[id]?.operation?.id == operation else { return }
    switch result {
    case .success(let response): answered(id, response)
    case .failure(let failure):
      guard let response = failure.decidingAnswer else {
        waiting[id]?.answer = failure.response
        return didEnd(id, Self.event(failure), failure)
      }
      lastFailures[id] = failure
      answered(id, response)
    }
  }

  private func answered(_ id: FrozenID, _ response: NetworkResponse) {
    waiting[id]?.answer = response
    let status = response.head.status
    let asks =
      response.saysNotApplied && waiting[id]?.secrets == nil
      && attempts[id]?.engine.freezing?.configuration.secrets != nil
    let event = FrozenEvent.answered(
      status: status, retryAfter: response.head.retryAfter,
      mayAskAgain: asks && askedAgain.insert(id).inserted)
    let isKept = (200..<400).contains(status) || status == 404
    spool.didEnd(id, event, headers: response.head.headers, body: isKept ? response.body.array : [])
  }

  private func didEnd(_ id: FrozenID, _ event: FrozenEvent, _ failure: NetworkError? = nil) {
    lastFailures[id] = failure
    spool.didEnd(id, event)
  }

  private static func event(_ failure: NetworkError) -> FrozenEvent {
    if failure.isPutOff { return .parked(failure.sendState) }
    let sendState = failure.response?.saysNotApplied ?? false ? .notSent : failure.sendState
    // The machine knows what a provider lacks by this word.
    return .failed(failure.isOfProvider ? .authenticationFailed : failure.code, sendState)
  }

  func abort(_ id: FrozenID) {
    guard let attempt = attempts.removeValue(forKey: id)?.operation else { return }
    attempt.perform { $0.withdraw(attempt, NetworkError(.cancelled)) }
  }
}

extension NetworkError {
  /// The attempt was not made. Where there is an answer it was, and what ended was a step behind it.
  var isPutOff: Bool { code.traits.contains(.isPutOff) && response == nil }

  /// The answer that says what became of the request, although something failed.
  fileprivate var decidingAnswer: NetworkResponse? {
    guard let response, !isOfProvider else { return nil }
    switch response.head.status {
    // The origin has taken it, and another time the body of its answer would be no better.
    case 200..<300: return code.traits.contains(.recurs) ? response : nil
    // What failed is what follows from it.
    case 300..<400: return nil
    default: return Self.ofPages.contains(code) ? response : nil
    }
  }

  /// The page of an error says no more than its status.
  private static let ofPages: [Code] = [
    .authenticationFailed, .bodyTooLarge, .decompressionLimit, .decodeFailed,
  ]
}

extension NetworkResponse {
  /// Refused for want of credentials, by the origin or a proxy: the request "has not been applied" (RFC 9110 section 15.5.2).
  /// Behind a redirect that is said of another request.
  fileprivate var saysNotApplied: Bool { [401, 407].contains(head.status) && metrics.redirects == 0 }
}

extension FrozenRequest {
  /// An exchange, ready to be sent: the spool alone repeats it.
  fileprivate func attempt(body: [UInt8], secrets: Headers, _ own: FrozenSender.Secrets) -> NetworkRequest {
    var request = own.settings
    (request.url, request.method) = (url, method)
    request.headers = headers + secrets.keeping { field in secretFields.contains { field.isNamed($0) } }
    request.coalesces = false
    request.extra.prepared = body.isEmpty ? .none : .bytes(body)
    request.extra.retry = .none
    request.extra.tag = tag
    if sendsKey {
      request.headers.append(name: keyField, value: key.wireValue)
      request.extra.idempotencyKey = key.text
    }
    return request
  }
}
