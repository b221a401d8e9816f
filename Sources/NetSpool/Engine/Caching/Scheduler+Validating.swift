/// Requests that differ only in what the stored answer does not vary by would all ask whether it still holds: one asks,
/// and the others ask the cache again once it knows.
extension Scheduler {
  /// A question to the origin whether a stored answer holds, and those who wait for what comes of it.
  struct Validation {
    let leader: NetworkOperation
    /// Nil: none does.
    var waiting: WaitList?
    /// Runs from the first who waits on.
    var timer: TimerTable.Key?
  }

  /// How long others wait for who asks: it may be paused, or another engine's slow reader.
  static let validationMilliseconds: UInt64 = 1_000

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
    let waiting = validation.waiting ?? WaitList()
    if validation.waiting == nil {
      validations[digest]?.waiting = waiting
      validations[digest]?.timer = timers.after(milliseconds: Self.validationMilliseconds) { [unowned self] in
        releaseValidation(of: digest)
      }
    }
    operation.loop.cacheUse = nil
    suspend(operation, for: .validation, in: waiting) { [unowned self] _ in
      consult(operation, operation.sent, then: .wait(atFront: false))
    }
    return true
  }

  /// The leader has its answer, or will have none.
  func releaseValidation(_ leader: NetworkOperation) {
    guard let digest = leader.loop.cacheUse?.held?.key.digest,
      validations[digest]?.leader === leader
    else { return }
    releaseValidation(of: digest)
  }

  private func releaseValidation(of digest: KeyDigest) {
    guard let validation = validations.removeValue(forKey: digest) else { return }
    timers.cancel(validation.timer)
    if let waiting = validation.waiting { letGo(waiting) }
  }
}
