/// Requests that differ only in what the stored answer does not vary by would all ask whether it still holds: one asks,
/// and the others ask the cache again once it knows.
final class Validations {
  /// A question to the origin whether a stored answer holds, and the operations that wait for what comes of it.
  private struct Validation {
    let leader: NetworkOperation
    /// Nil: none does.
    var waiting: WaitList?
    /// Runs from the first who waits on.
    var timer: TimerTable.Key?
  }

  /// By the digest of what is asked about.
  // Safe because the loop thread alone has one, and a table calls nobody back.
  @safe @exclusivity(unchecked) private var validations: [KeyDigest: Validation] = [:]
  private let context: LoopContext

  init(_ context: LoopContext) { self.context = context }

  /// Others wait for the one that asks for so long: it may be paused, or another engine's slow reader.
  var milliseconds: UInt64 = 1_000

  /// The wait for another that asks already, once; else this one asks, and others wait for it.
  func wait(for operation: NetworkOperation, _ use: CacheUse) -> Wait? {
    guard use.isConditional, let digest = use.held?.key.digest,
      use.question.request.policy != .cachedThenFresh
    else { return nil }
    guard let validation = validations[digest] else {
      validations[digest] = Validation(leader: operation)
      return nil
    }
    // The next one is nobody's to wait for: whoever was told nothing new asks itself.
    guard validation.leader !== operation, !operation.loop.hasAwaitedValidation else { return nil }
    operation.loop.hasAwaitedValidation = true
    let waiting = validation.waiting ?? WaitList()
    if validation.waiting == nil {
      validations[digest]?.waiting = waiting
      validations[digest]?.timer = context.timers.after(milliseconds: milliseconds) { [unowned self] in
        release(digest)
      }
    }
    operation.loop.cacheUse = nil
    return Wait(.validation, in: waiting, then: .consult(then: .line))
  }

  /// The leader has its answer, or will have none.
  func release(_ leader: NetworkOperation) {
    guard !validations.isEmpty, let digest = leader.loop.cacheUse?.held?.key.digest,
      validations[digest]?.leader === leader
    else { return }
    release(digest)
  }

  private func release(_ digest: KeyDigest) {
    guard let validation = validations.removeValue(forKey: digest) else { return }
    context.timers.cancel(validation.timer)
    if let waiting = validation.waiting { context.letGo(waiting) }
  }
}
