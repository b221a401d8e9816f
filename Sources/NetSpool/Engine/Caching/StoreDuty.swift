/// Something that a store does for an answer, and that may wait for the disk.
struct StoreDuty: Sendable {
  let cache: EngineCache
  /// What it keeps in memory until then.
  var bytes = 0
  /// Where older bytes stand, which go when it cannot be done.
  var replaced: StoreKey?
  let job: @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

  func begin(_ done: @escaping @Sendable () -> Void) {
    if cache.store.look(bytes: bytes, { [job] in job(done) }) { return }
    if let replaced { cache.store.remove(replaced) }
    done()
  }
}

extension Scheduler {
  /// A store that is slow, or that another process keeps, holds no operation up for longer: with an answer that is stored,
  /// or without.
  private static let recordingMilliseconds: UInt64 = 50
  private static let storingMilliseconds: UInt64 = 1_000

  /// Ends an operation once the store has done what belongs to the answer. What it made worthless is written down: a caller
  /// told of the ending may exit at once, or ask another process, and must not find what was there. What is stored is found.
  func record(_ operation: NetworkOperation, _ ending: Ending) {
    guard let duties = operation.loop.extras?.unwritten else { return publish(operation, ending) }
    operation.loop.extras?.unwritten = []
    let stores = duties.contains { $0.bytes > 0 }
    let slack = UInt64(duties[0].cache.store.settings.slack)
    let limit = stores ? Self.storingMilliseconds * slack : Self.recordingMilliseconds
    let wait = Wait(.recording, then: .end(ending), atMost: limit)
    suspend(operation, wait)
    let (port, waiting) = (port, LoopReference(wait))
    let left = Countdown(duties.count) { port.perform { _ in waiting.object?.goOn() } }
    for duty in duties {
      guard loop.timeline == nil else {
        duty.job { left.signal() }  // a model has one thread
        continue
      }
      duty.begin { left.signal() }
    }
  }
}
