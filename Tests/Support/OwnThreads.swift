import Dispatch
import Foundation
import Testing

/// Runs tests on threads of their own, for those that wait for a child process or for an engine: in Swift's
/// pool, which has as many threads as cores, they would hold up all other tests.
struct OwnThreads: TestTrait, SuiteTrait, TestScoping {
  let isRecursive = true
  fileprivate let executor: any TaskExecutor

  @concurrent func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(executor) { try await body() }
  }
}

extension Trait where Self == OwnThreads {
  /// Not in Swift's pool.
  static var ownThreads: Self { OwnThreads(executor: BlockingExecutor.shared) }

  /// Each that waits has a thread to itself, for tests beside which processes of theirs run: the process of an exit test holds
  /// a thread until it ends, whatever else the test does beside it.
  static var threadForEach: Self { OwnThreads(executor: ConcurrentExecutor.shared) }
}

/// Few threads, which may wait: a job goes to whichever is free, and is behind none that waits.
private final class BlockingExecutor: TaskExecutor {
  static let shared = BlockingExecutor()

  private let queue = OperationQueue()

  private init() { queue.maxConcurrentOperationCount = 6 }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.addOperation { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

private final class ConcurrentExecutor: TaskExecutor {
  static let shared = ConcurrentExecutor()

  private let queue = DispatchQueue(label: "tests.concurrent", attributes: .concurrent)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
