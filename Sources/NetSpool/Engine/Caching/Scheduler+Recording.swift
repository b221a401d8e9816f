/// An ending that waits until the store has written what the answer made worthless: whoever hears of it may exit at once,
/// or ask another process, and must not find what was there.
final class Recording {
  let ending: Ending
  let timer: TimerTable.Key

  init(_ ending: Ending, timer: TimerTable.Key) {
    self.ending = ending
    self.timer = timer
  }
}

extension Scheduler {
  /// A store that is slow, or that another process keeps, holds nobody up for longer.
  private static let recordingMilliseconds: UInt64 = 50

  func record(_ operation: NetworkOperation, _ ending: Ending, _ cache: EngineCache) {
    operation.loop.extras?.unwritten = nil
    let timer = timers.after(milliseconds: Self.recordingMilliseconds) { [unowned self, weak operation] in
      if let operation { didRecord(operation) }
    }
    move(operation, to: .recording(Recording(ending, timer: timer)))
    cache.store.afterCommit {
      operation.perform(inLine: false) { $0.didRecord(operation) }
    }
  }

  private func didRecord(_ operation: NetworkOperation) {
    guard case .recording(let recording) = operation.loop.phase else { return }
    publish(operation, recording.ending)
  }
}
