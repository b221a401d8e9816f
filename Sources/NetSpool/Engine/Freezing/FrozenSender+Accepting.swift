/// Operations that come to be frozen, and those that are withdrawn.
extension FrozenSender {
  /// An operation's request in the form in which it is kept.
  struct Submission: Sendable {
    let operation: NetworkOperation
    var request: FrozenRequest
    var body: [UInt8]
    let options: FreezeOptions
    /// It expires after so long.
    let lifetime: Duration
    let headers: Headers
    let credential: NetworkCredentials?
    let timeouts: NetworkRequest.Timeouts?
  }

  func accept(_ submission: Submission) {
    accepting[submission.operation.id] = submission.operation
    spool.accept(
      submission.request, body: submission.body, options: submission.options, lifetime: submission.lifetime
    ) { [unowned self] result in
      accepted(submission, result)
    }
  }

  private func accepted(_ submission: Submission, _ result: Result<FrozenSpool.Acceptance, NetworkError>) {
    let operation = submission.operation
    // Nil when its engine could not wait for it: then it is sent by the next that comes.
    guard accepting.removeValue(forKey: operation.id) != nil else { return }
    let isUnwanted = unwanted.remove(operation.id) != nil
    switch result {
    case .failure(let failure):
      end(operation, .failure(isUnwanted ? NetworkError(.cancelled) : failure))
    case .success(let acceptance):
      holdForTurn(operation.engine.driver)
      let id = acceptance.id
      places[operation.id] = id
      if acceptance.isDuplicate {
        waiting[id, default: Waiting()].operations.append(operation)
      } else {
        waiting[id] = Waiting(operations: [operation], secrets: Secrets(submission))
      }
      let request = (acceptance.isDuplicate ? record(id)?.request : nil) ?? submission.request
      let ticket = FrozenTicket(
        id: id.number, idempotencyKey: request.key.text, isDuplicate: acceptance.isDuplicate,
        withheldFields: request.secretFields)
      on(operation) { core, operation in core.didFreeze(operation, ticket) }
      if isUnwanted { withdraw(operation) }
    }
  }

  /// Nil when it has just ended.
  private func record(_ id: FrozenID) -> FrozenRecord? {
    (try? freezer.store.row(id.number)).flatMap {
      FrozenRecord(decoding: $0.payload.rawBytes, at: freezer.settings.now())
    }
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

  /// On the loop of the operation's own queue.
  func on(_ operation: NetworkOperation, _ body: @escaping @Sendable (Scheduler, NetworkOperation) -> Void) {
    operation.engine.driver.perform { core in body(core, operation) }
  }

  func end(_ operation: NetworkOperation, _ outcome: NetworkOperation.Outcome) {
    on(operation) { core, operation in core.endFrozen(operation, outcome) }
  }
}

extension FrozenSender.Secrets {
  fileprivate init(_ submission: FrozenSender.Submission) {
    self.init(
      headers: submission.headers, credential: submission.credential, timeouts: submission.timeouts)
  }
}
