/// Something that a store does for an answer, and that may wait for the disk.
struct StoreDuty: Sendable {
  typealias Job = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

  fileprivate let cache: EngineCache
  fileprivate let bytes: Int
  fileprivate let job: Job

  /// - Parameter bytes: what it keeps in memory until then.
  init(_ cache: EngineCache, bytes: Int = 0, _ job: @escaping Job) {
    (self.cache, self.bytes, self.job) = (cache, bytes, job)
  }
}

extension Scheduler {
  /// A store that is slow, or that another process keeps, holds nobody up for longer: with an answer that is stored, or
  /// without.
  private static let recordingMilliseconds: UInt64 = 50
  private static let storingMilliseconds: UInt64 = 1_000

  /// Ends an operation once the store has done what belongs to the answer. What it made worthless is written down: whoever
  /// hears of the ending may exit at once, or ask another process, and must not find what was there. What is stored is found.
  func record(_ operation: NetworkOperation, _ ending: Ending) {
    guard let duties = operation.loop.extras?.unwritten else { return publish(operation, ending) }
    operation.loop.extras?.unwritten = []
    let stores = duties.contains { $0.bytes > 0 }
    let limit = stores ? Self.storingMilliseconds : Self.recordingMilliseconds
    let wait = Wait(.recording, then: .end(ending), atMost: limit)
    suspend(operation, wait)
    let (port, waiting) = (port, LoopReference(wait))
    let left = Countdown(duties.count) { port.perform { _ in waiting.object?.goOn() } }
    for duty in duties {
      guard loop.timeline == nil else {
        duty.job { left.signal() }  // a model has one thread
        continue
      }
      let isTaken = duty.cache.store.look(bytes: duty.bytes) { duty.job { left.signal() } }
      if !isTaken { left.signal() }
    }
  }
}
