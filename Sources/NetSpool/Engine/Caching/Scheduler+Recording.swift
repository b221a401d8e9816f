/// An ending that waits until the store has done what belongs to the answer. What it made worthless is written down: whoever
/// hears of the ending may exit at once, or ask another process, and must not find what was there. What is stored is found.
final class Recording {
  let ending: Ending
  let timer: TimerTable.Key

  init(_ ending: Ending, timer: TimerTable.Key) {
    self.ending = ending
    self.timer = timer
  }
}

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

  func record(_ operation: NetworkOperation, _ ending: Ending) {
    guard let duties = operation.loop.extras?.unwritten else { return publish(operation, ending) }
    operation.loop.extras?.unwritten = []
    let stores = duties.contains { $0.bytes > 0 }
    let limit = stores ? Self.storingMilliseconds : Self.recordingMilliseconds
    let timer = timers.after(milliseconds: limit) { [unowned self, weak operation] in
      if let operation { didRecord(operation) }
    }
    move(operation, to: .recording(Recording(ending, timer: timer)))
    let left = Countdown(duties.count) { operation.perform(inLine: false) { $0.didRecord(operation) } }
    for duty in duties {
      guard loop.timeline == nil else {
        duty.job { left.signal() }  // a model has one thread
        continue
      }
      let isTaken = duty.cache.store.look(bytes: duty.bytes) { duty.job { left.signal() } }
      if !isTaken { left.signal() }
    }
  }

  private func didRecord(_ operation: NetworkOperation) {
    guard case .recording(let recording) = operation.loop.phase else { return }
    publish(operation, recording.ending)
  }
}
