internal import Synchronization

/// What threads are given to do, and these threads: work under one lock, and sleep for a thread that finds none.
///
/// The sender that finds a thread asleep pays the wake-up, a system call, and all others only add to what it will find.
/// Leaving it out is safe because a thread falls asleep under the lock under which work is added, and only after a look.
/// Any thread.
final class Inbox<Work: InboxWork & Sendable & ~Copyable>: Sendable {
  private struct State: ~Copyable {
    var work: Work
    /// Started, and neither joined nor detached.
    var threads: [SystemThread] = []
    /// Threads that will look at the work once more.
    var alive = 0
    /// The threads that sleep and have not been called.
    var asleep = 0
    var isClosed = false

    init(_ work: consuming Work) { self.work = work }

    mutating func takeThreads() -> [SystemThread] {
      defer { threads = [] }
      return threads
    }
  }

  private let state: BusyMutex<State>
  private let calls = SystemSemaphore()

  init(_ work: consuming sending Work) { state = BusyMutex(State(work)) }

  /// Looks at the work, or changes what no thread is to be called for.
  func withLock<Result: Sendable>(_ body: (inout Work) -> Result) -> Result {
    state.withLock { body(&$0.work) }
  }

  /// Changes the work, and has a thread look at it if there is something to do: one that sleeps, else a new one of the
  /// crew. Nil, and nothing is changed, when it is closed or there can be no thread.
  func send<Result: Sendable>(by crew: InboxCrew? = nil, _ body: (inout Work) -> Result) -> Result? {
    let (result, mustSignal) = state.withLock { state -> (Result?, Bool) in
      let isFirst = state.alive == 0
      if state.isClosed { return (nil, false) }
      if isFirst, let crew, (try? start(crew, &state)) == nil { return (nil, false) }
      let result = body(&state.work)
      guard state.work.isWaiting else { return (result, false) }
      if state.asleep == 0 {
        if let crew, !isFirst, state.alive < crew.countMax { try? start(crew, &state) }
        return (result, false)
      }
      state.asleep -= 1
      return (result, true)
    }
    if mustSignal { calls.signal() }
    return result
  }

  /// Refuses what comes later, and has every thread look once more.
  func close() {
    let asleep = state.withLock { state in
      defer { (state.asleep, state.isClosed) = (0, true) }
      return state.asleep
    }
    for _ in 0..<asleep { calls.signal() }
  }
}

// MARK: Threads

extension Inbox where Work: ~Copyable {
  /// What a thread that looks knows besides the work.
  struct Look {
    let isClosed: Bool
    /// Nothing has called it since it fell asleep, and its time is over.
    let isLate: Bool
    /// The other threads that sleep.
    let asleep: Int
  }

  enum Step<Taken: Sendable>: Sendable {
    case take(Taken)
    /// Until it is called, or a moment at which it is to look again.
    case sleep(until: Microseconds)
    /// The thread takes no more.
    case end
  }

  /// A thread of the inbox: what it is to do next; nil when it is to end. `look` takes it out of the work, whenever the
  /// thread is called and when it is late.
  func next<Taken: Sendable>(_ look: (inout Work, Look) -> Step<Taken>) -> Taken? {
    var isLate = false
    while true {
      let step = state.withLock { state in
        let step = look(&state.work, Look(isClosed: state.isClosed, isLate: isLate, asleep: state.asleep))
        switch step {
        case .take: break
        case .sleep: state.asleep += 1
        case .end: state.alive -= 1
        }
        return step
      }
      switch step {
      case .take(let taken): return taken
      case .sleep(let deadline): isLate = !sleep(until: deadline)
      case .end: return nil
      }
    }
  }

  /// False when it was not called.
  private func sleep(until deadline: Microseconds) -> Bool {
    if deadline == .max {
      calls.wait()
      return true
    }
    if calls.wait(until: deadline) { return true }
    let isCalled = state.withLock { state in
      if state.asleep == 0 { return true }
      state.asleep -= 1
      return false
    }
    // All that slept are called, this one as well: its signal is there or about to be.
    if isCalled { calls.wait() }
    return isCalled
  }

  private func start(_ crew: InboxCrew, _ state: inout State) throws(NetworkError) {
    let thread = try SystemThread.start(name: crew.name, crew.life)
    state.alive += 1
    if crew.isDetached { thread.detach() } else { state.threads.append(thread) }
  }

  /// Starts a thread now.
  func start(_ crew: InboxCrew) throws(NetworkError) {
    try state.withLock { state throws(NetworkError) in try start(crew, &state) }
  }

  /// Waits until the threads have ended.
  func join() { for thread in state.withLock({ $0.takeThreads() }) { thread.join() } }

  /// Lets the threads end by themselves.
  func detach() { for thread in state.withLock({ $0.takeThreads() }) { thread.detach() } }
}

/// What an `Inbox` holds.
protocol InboxWork: ~Copyable {
  /// True when there is something that a sleeping thread is to be called for.
  var isWaiting: Bool { get }
}

extension FIFO: InboxWork {
  var isWaiting: Bool { !isEmpty }
}

/// The threads of an `Inbox`, which start when there is work for them.
struct InboxCrew: Sendable {
  let name: String
  var countMax = 1
  /// They end without anything that waits for it.
  var isDetached = false
  /// What each of them does.
  let life: @Sendable () -> Void
}
