internal import Synchronization

/// The threads behind a `Worker`, and the lanes that have something to do.
///
/// A sleeping thread is woken only for a lane that no running thread is coming for, so that a busy pool
/// costs no wake-up calls.
final class WorkerPool: Sendable {
  private struct State {
    var lanes = FIFO<Worker.Lane>()
    /// Started and not yet joined.
    var threads: [SystemThread] = []
    /// Threads that will look at `lanes` once more.
    var alive = 0
    /// Threads asleep that nobody has called yet.
    var idle = 0
    var isClosed = false
  }

  private enum Step { case run(Worker.Lane), sleep, end }
  private enum Taker { case running, asleep, caller }

  private let state = Mutex(State())
  private let calls = SystemSemaphore()
  private let threadsMax: Int
  private let counter: BudgetCounter
  private let notify: @Sendable (@escaping Worker.Completion) -> Void

  init(
    threadsMax: Int, counter: BudgetCounter, notify: @escaping @Sendable (@escaping Worker.Completion) -> Void
  ) {
    self.threadsMax = threadsMax
    self.counter = counter
    self.notify = notify
  }

  func submit(_ lane: Worker.Lane, _ job: @escaping Worker.Job) {
    let wait = counter.wait()
    let wasScheduled = lane.state.withLock { lane in
      lane.waiting.append((job, wait))
      defer { lane.isScheduled = true }
      return lane.isScheduled
    }
    guard !wasScheduled else { return }
    switch state.withLock({ self.taker(of: lane, &$0) }) {
    case .running: break
    case .asleep: calls.signal()
    case .caller: while runOne(of: lane) {}
    }
  }

  /// Lists the lane and says which thread will come for it.
  private func taker(of lane: Worker.Lane, _ state: inout State) -> Taker {
    if !state.isClosed && state.idle == 0 && state.threads.count < threadsMax { startThread(&state) }
    guard state.alive > 0 else { return .caller }
    state.lanes.append(lane)
    guard state.idle > 0 else { return .running }
    state.idle -= 1
    return .asleep
  }

  private func startThread(_ state: inout State) {
    guard let thread = try? SystemThread.start(name: "netspool-files", { [self] in work() }) else { return }
    state.threads.append(thread)
    state.alive += 1
  }

  /// The life of one thread.
  private func work() {
    while true {
      switch state.withLock({ self.step(&$0) }) {
      case .run(let lane): if runOne(of: lane) { state.withLock { $0.lanes.append(lane) } }
      case .sleep: calls.wait()
      case .end: return
      }
    }
  }

  private func step(_ state: inout State) -> Step {
    if let lane = state.lanes.popFirst() { return .run(lane) }
    if state.isClosed {
      state.alive -= 1
      return .end
    }
    state.idle += 1
    return .sleep
  }

  /// Runs the lane's next job; true when there is another.
  private func runOne(of lane: Worker.Lane) -> Bool {
    guard let (job, wait) = lane.state.withLock({ $0.waiting.popFirst() }) else { return false }
    counter.take(after: wait)
    let completion = job()
    counter.give()
    notify(completion)
    return lane.state.withLock { lane in
      lane.isScheduled = !lane.waiting.isEmpty
      return lane.isScheduled
    }
  }

  /// Has every thread end once no job is left.
  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = 0 }
      return state.idle
    }
    for _ in 0..<idle { calls.signal() }
  }

  func join() { for thread in takeThreads() { thread.join() } }
  func detach() { for thread in takeThreads() { thread.detach() } }

  private func takeThreads() -> [SystemThread] {
    state.withLock { state in
      defer { state.threads = [] }
      return state.threads
    }
  }
}

/// A few threads for each device for calls that block, so that the loop never does: file writes above all.
///
/// Jobs of one `Lane` run one after the other in the order they came; the lanes of a device share its threads in turn. A
/// device that answers no more keeps its own threads, and those of no other.
/// A job's result goes to its completion, which `notify` carries to the loop thread. Threads start when
/// there is work for them and end at `stop()`. All signals are blocked in them.
/// The queue has no limit of its own: a sink submits no more than its two buffers.
final class Worker: Sendable {
  typealias Completion = @Sendable () -> Void
  /// A job leaves behind what is to be run on the loop thread.
  typealias Job = @Sendable () -> Completion

  private struct State {
    var pools: [UInt64: WorkerPool] = [:]
    var isStopped = false
  }

  private let state = Mutex(State())
  private let budgets: DeviceBudgets
  private let threadsMax: Int
  private let notify: @Sendable (@escaping Completion) -> Void

  /// - Parameters:
  ///   - budgets: at most so many threads for each device, 2 unless told otherwise, and where its jobs are counted.
  ///   - threadsMax: fewer, where others share the budgets.
  ///   - notify: called on a worker thread; has the completion run on the loop thread, in order.
  init(
    budgets: DeviceBudgets = DeviceBudgets(heldMax: 2), threadsMax: Int? = nil,
    notify: @escaping @Sendable (@escaping Completion) -> Void
  ) {
    (self.budgets, self.threadsMax, self.notify) = (budgets, threadsMax ?? budgets.heldMax, notify)
  }

  deinit {
    for pool in takePools() {
      pool.close()
      pool.detach()
    }
  }

  private func pool(of device: UInt64) -> WorkerPool {
    state.withLock { state in
      if let pool = state.pools[device] { return pool }
      let pool = WorkerPool(
        threadsMax: threadsMax, counter: budgets.counter(of: device), notify: notify)
      if state.isStopped { pool.close() } else { state.pools[device] = pool }
      return pool
    }
  }

  private func takePools() -> [WorkerPool] {
    state.withLock { state in
      defer { (state.pools, state.isStopped) = ([:], true) }
      return Array(state.pools.values)
    }
  }

  /// Runs `job` on a worker thread, after all earlier jobs of its lane, then `completion` on the loop
  /// thread with what it returned. After `stop()` the caller runs the job itself: nothing is ever dropped.
  func run<Result: Sendable>(
    on lane: Lane, _ job: @escaping @Sendable () -> Result,
    completion: @escaping @Sendable (Result) -> Void
  ) {
    pool(of: lane.device).submit(lane) {
      let result = job()
      return { completion(result) }
    }
  }

  /// Lets all submitted jobs end, then ends and joins the threads. Idempotent; not from a job.
  func stop() {
    let pools = takePools()
    for pool in pools { pool.close() }
    for pool in pools { pool.join() }
  }
}

extension Worker {
  /// A queue of jobs of which one runs at a time. Make one per file.
  final class Lane: Sendable {
    let state = Mutex(State())
    /// The device whose threads run them.
    let device: UInt64

    init(device: UInt64 = 0) { self.device = device }

    struct State {
      var waiting = FIFO<(job: Job, wait: BudgetCounter.Wait)>()
      /// Whether the worker stands in the pool's list or a thread has it.
      var isScheduled = false
    }
  }
}
