import Dispatch
import Synchronization
import Testing

/// Runs tests on threads of their own, for those that wait for a child process or for an engine: in Swift's
/// pool, which has as many threads as cores, they would hold up all other tests.
struct OwnThreads: TestTrait, SuiteTrait, TestScoping {
  let isRecursive = true

  @concurrent func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(BlockingExecutor.shared) { try await body() }
  }
}

extension Trait where Self == OwnThreads {
  /// Not in Swift's pool.
  static var ownThreads: OwnThreads { OwnThreads() }
}

/// Few queues, each with a thread that may wait.
private final class BlockingExecutor: TaskExecutor {
  static let shared = BlockingExecutor()

  private let queues = (0..<3).map { DispatchQueue(label: "tests.blocking.\($0)") }
  private let turn = Atomic(0)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let turn = turn.wrappingAdd(1, ordering: .relaxed).newValue
    queues[turn % queues.count].async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Runs tests where each that waits has a thread to itself. The process of an exit test holds one until it ends, whatever
/// else the test does beside it.
struct ThreadForEach: TestTrait, SuiteTrait, TestScoping {
  let isRecursive = true

  @concurrent func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(ConcurrentExecutor.shared) { try await body() }
  }
}

extension Trait where Self == ThreadForEach {
  /// For tests beside which processes of theirs run.
  static var threadForEach: ThreadForEach { ThreadForEach() }
}

private final class ConcurrentExecutor: TaskExecutor {
  static let shared = ConcurrentExecutor()

  private let queue = DispatchQueue(label: "tests.concurrent", attributes: .concurrent)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
