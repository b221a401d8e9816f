/// Requests that differ only in what the stored answer does not vary by would all ask whether it still holds: one asks,
/// and the others ask the cache again once it knows.
extension Scheduler {
  /// A question to the origin whether a stored answer holds, and those who wait for what comes of it.
  struct Validation {
    let leader: NetworkOperation
    var waiting: [NetworkOperation] = []
  }

  /// True when somebody asks already: the operation waits for that, once.
  func awaitValidation(_ operation: NetworkOperation, _ use: CacheUse) -> Bool {
    guard use.isConditional, let digest = use.held?.key.digest,
      use.question.request.policy != .cachedThenFresh
    else { return false }
    guard let validation = validations[digest] else {
      validations[digest] = Validation(leader: operation)
      return false
    }
    // The next one is nobody's to wait for: whoever was told nothing new asks itself.
    guard validation.leader !== operation, !operation.loop.hasAwaitedValidation else { return false }
    operation.loop.hasAwaitedValidation = true
    validations[digest]?.waiting.append(operation)
    operation.loop.cacheUse = nil
    move(operation, to: .validating)
    return true
  }

  /// The leader has its answer, or will have none.
  func releaseValidation(_ leader: NetworkOperation) {
    guard !validations.isEmpty, let digest = leader.loop.cacheUse?.held?.key.digest,
      let validation = validations[digest], validation.leader === leader
    else { return }
    validations[digest] = nil
    if validation.waiting.isEmpty { return }
    later { [unowned self] in
      forEach(of: validation.waiting) { [unowned self] operation in
        guard case .validating = operation.loop.phase else { return }
        if !consult(operation, operation.request) {
          wait(operation, operation.request.priority, atFront: false)
        }
      }
    }
  }
}
