internal import Synchronization

/// The threads behind a `Worker`, and the lanes that have something to do.
final class WorkerPool: Sendable {
  private typealias Lanes = FIFO<Worker.Lane>

  private let inbox = Inbox(Lanes())
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
    let crew = InboxCrew(name: "netspool-files", countMax: threadsMax) { [self] in work() }
    if inbox.send(by: crew, { $0.append(lane) }) == nil { while runOne(of: lane) {} }
  }

  /// The life of one thread.
  private func work() {
    while let lane = inbox.next(Self.first) {
      if runOne(of: lane) { inbox.withLock { $0.append(lane) } }
    }
  }

  private static func first(_ lanes: inout Lanes, _ look: Inbox<Lanes>.Look) -> Inbox<Lanes>.Step<Worker.Lane>
  {
    if let lane = lanes.popFirst() { return .take(lane) }
    return look.isClosed ? .end : .sleep(until: .max)
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
  func close() { inbox.close() }
  func join() { inbox.join() }
  func detach() { inbox.detach() }
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
      let pool = WorkerPool(threadsMax: threadsMax, counter: budgets.counter(of: device), notify: notify)
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
    on lane: Lane, _ job: @escaping @Sendable () -> Result, completion: @escaping @Sendable (Result) -> Void
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

  /// A queue of jobs of which one runs at a time. Make one per file.
  final class Lane: Sendable {
    let state = Mutex(State())
    /// The device whose threads run them.
    let device: UInt64

    init(device: UInt64 = 0) { self.device = device }

    struct State {
      var waiting = FIFO<(job: Job, wait: BudgetCounter.Wait)>()
      /// True if the worker stands in the pool's list or a thread has it.
      var isScheduled = false
    }
  }
}
