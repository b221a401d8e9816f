internal import Synchronization

/// Looks into the store for those who must not wait for the disk: one thread for each store, from the first question on.
///
/// A disk that hangs keeps this thread. Then nothing more is taken, and whoever asks goes on without what is stored.
final class StoreLooker: Sendable {
  typealias Job = @Sendable () -> Void

  private struct State {
    var jobs = FIFO<(bytes: Int, job: Job)>()
    var bytes = 0
    var thread: SystemThread?
    var isAsleep = false
    var isClosed = false
    /// When it began with what it is at; nil while it has nothing to do.
    var since: Microseconds?
  }

  private let state = Mutex(State())
  private let calls = SystemSemaphore()

  /// With one job for longer, it waits for the disk. Whoever asks waits as long.
  static let patience: Microseconds = 1_000_000
  private let patience: Microseconds
  private static let jobsMax = 1 << 16
  private static let bytesMax = 32 << 20

  init(patience: Microseconds = StoreLooker.patience) { self.patience = patience }

  /// Has a job done, behind those before. False when it will not be: too much waits, or the disk hangs.
  ///
  /// - Parameter bytes: what the job keeps in memory.
  func run(bytes: Int = 0, _ job: @escaping Job) -> Bool {
    let (isTaken, mustWake) = state.withLock { state in
      if state.isClosed || isStuck(state) || state.jobs.count >= Self.jobsMax { return (false, false) }
      if bytes > 0, state.bytes > 0, state.bytes + bytes > Self.bytesMax { return (false, false) }
      if state.thread == nil {
        state.thread = try? SystemThread.start(name: "netspool-looks") { [self] in work() }
        if state.thread == nil { return (false, false) }
      }
      state.jobs.append((bytes, job))
      state.bytes += bytes
      defer { state.isAsleep = false }
      return (true, state.isAsleep)
    }
    if mustWake { calls.signal() }
    return isTaken
  }

  /// Whether it is at one job for too long.
  var isStuck: Bool { state.withLock { isStuck($0) } }

  private func isStuck(_ state: borrowing State) -> Bool {
    state.since.map { MonotonicClock.now - $0 > patience } ?? false
  }

  /// Does what is left, and ends the thread.
  func stop() {
    let (thread, mustWake) = state.withLock { state in
      defer { (state.thread, state.isAsleep, state.isClosed) = (nil, false, true) }
      return (state.thread, state.isAsleep)
    }
    if mustWake { calls.signal() }
    thread?.join()
  }

  private enum Step { case run(Int, Job), sleep, end }

  private func work() {
    while true {
      switch state.withLock({ step(&$0) }) {
      case .run(let bytes, let job):
        job()
        state.withLock { $0.bytes -= bytes }
      case .sleep: calls.wait()
      case .end: return
      }
    }
  }

  private func step(_ state: inout State) -> Step {
    if let (bytes, job) = state.jobs.popFirst() {
      state.since = MonotonicClock.now
      return .run(bytes, job)
    }
    state.since = nil
    if state.isClosed { return .end }
    state.isAsleep = true
    return .sleep
  }
}
