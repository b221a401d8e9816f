import Synchronization

/// A few threads for calls that block, so that the loop never does: file writes above all.
///
/// Jobs of one `Lane` run one after the other in the order they came; lanes share the threads in turn.
/// A job's result goes to its completion, which `notify` carries to the loop thread. Threads start when
/// there is work for them and end at `stop()`. All signals are blocked in them.
/// The queue has no limit of its own: a sink submits no more than its two buffers.
final class Worker: Sendable {
  typealias Completion = @Sendable () -> Void
  /// A job leaves behind what is to be run on the loop thread.
  typealias Job = @Sendable () -> Completion

  private let pool: WorkerPool

  /// - Parameters:
  ///   - threads: at most so many, 2 unless told otherwise.
  ///   - notify: called on a worker thread; has the completion run on the loop thread, in order.
  init(threads: Int = 2, notify: @escaping @Sendable (@escaping Completion) -> Void) {
    pool = WorkerPool(threadsMax: threads, notify: notify)
  }

  deinit {
    pool.close()
    pool.detach()
  }

  /// Runs `job` on a worker thread, after all earlier jobs of its lane, then `completion` on the loop
  /// thread with what it returned. After `stop()` the caller runs the job itself: nothing is ever dropped.
  func run<Result: Sendable>(
    on lane: Lane, _ job: @escaping @Sendable () -> Result,
    completion: @escaping @Sendable (Result) -> Void
  ) {
    pool.submit(lane) {
      let result = job()
      return { completion(result) }
    }
  }

  /// Lets all submitted jobs end, then ends and joins the threads. Idempotent; not from a job.
  func stop() {
    pool.close()
    pool.join()
  }
}

extension Worker {
  /// A queue of jobs of which one runs at a time. Make one per file.
  final class Lane: Sendable {
    let state = Mutex(State())

    init() {}

    struct State {
      var waiting = FirstInFirstOut<Job>()
      /// It stands in the pool's list or a thread has it.
      var isScheduled = false
    }
  }
}

/// A queue as two stacks: appending and taking cost the same however long it is.
struct FirstInFirstOut<Element> {
  private var front: [Element] = []
  private var back: [Element] = []

  var isEmpty: Bool { front.isEmpty && back.isEmpty }

  mutating func append(_ element: Element) { back.append(element) }

  mutating func popFirst() -> Element? {
    if front.isEmpty {
      front = back.reversed()
      back.removeAll()
    }
    return front.popLast()
  }
}
