internal import Synchronization

/// Several operations with one ending.
public final class NetworkBatch: Sendable {
  /// The operations, in the order they were given; empty for a prefetch, which holds only what is under way.
  public let operations: [NetworkOperation]
  private let state: Mutex<State>
  private let cancelAll: @Sendable () -> Void
  private let deliver: @Sendable (@escaping @Sendable () -> Void) -> Void

  private struct State: Sendable {
    var results: [Result<NetworkResponse, NetworkError>?]
    var left: Int
    var bytes: Int64 = 0
    var isEnded = false
    var isTelling = false
    var untold = FIFO<NetworkBatch.Progress>()
    var completions: [@Sendable ([Result<NetworkResponse, NetworkError>]) -> Void] = []
    var progress: [@Sendable (NetworkBatch.Progress) -> Void] = []

    mutating func note(_ result: Result<NetworkResponse, NetworkError>, of index: Int) {
      results[index] = result
      left -= 1
      if case .success(let response) = result { bytes += response.metrics.bytesReceived }
      if !progress.isEmpty {
        untold.append(Progress(done: results.count - left, total: results.count, bytes: bytes))
      }
    }

    /// False while another thread tells.
    mutating func beginTelling() -> Bool {
      defer { isTelling = true }
      return !isTelling
    }

    /// The next call that tells something. Nil ends the telling.
    mutating func next() -> (@Sendable () -> Void)? {
      if let next = untold.popFirst() {
        return { [watchers = progress] in for watcher in watchers { watcher(next) } }
      }
      guard left == 0, !isEnded || !completions.isEmpty else {
        isTelling = false
        return nil
      }
      defer { (isEnded, completions, progress) = (true, [], []) }
      let all = results.compactMap(\.self)
      return { [handlers = completions] in for handler in handlers { handler(all) } }
    }
  }

  init(
    _ operations: [NetworkOperation], cancel: @escaping @Sendable () -> Void,
    deliver: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    self.operations = operations
    state = Mutex(State(results: Array(repeating: nil, count: operations.count), left: operations.count))
    cancelAll = cancel
    self.deliver = deliver
  }

  /// All results in the order of the operations, once, when the last has ended; at once for no operations.
  /// May be added later: it then comes right away. On the engine's delivery target.
  @discardableResult
  public func onCompletion(
    _ handler: @escaping @Sendable ([Result<NetworkResponse, NetworkError>]) -> Void
  ) -> Self {
    let isOver = state.withLock { state in
      state.completions.append(handler)
      return state.isEnded
    }
    if isOver { deliver { [self] in tell() } }
    return self
  }

  /// All results in the order of the operations, when the last has ended. A prefetch keeps none of its own: its
  /// summary says how many there were.
  public var results: [Result<NetworkResponse, NetworkError>] {
    get async {
      await withCheckedContinuation { continuation in onCompletion { continuation.resume(returning: $0) } }
    }
  }

  /// After each operation that has ended, in order and before `onCompletion`. On the engine's delivery target.
  @discardableResult
  public func onProgress(_ handler: @escaping @Sendable (NetworkBatch.Progress) -> Void) -> Self {
    state.withLock { if !$0.isEnded { $0.progress.append(handler) } }
    return self
  }

  /// Ends all of them that have not ended with `.cancelled`.
  public func cancel() { cancelAll() }

  func ended(_ index: Int, _ result: Result<NetworkResponse, NetworkError>) {
    state.withLock { $0.note(result, of: index) }
    tell()
  }

  /// Tells what there is to tell: one thread at a time, so that progress comes in order and the end behind all of it.
  func tell() {
    guard state.withLock({ $0.beginTelling() }) else { return }
    while let next = state.withLock({ $0.next() }) { next() }
  }

  /// The progress of a batch.
  public struct Progress: Sendable, Hashable {
    /// Operations that have ended.
    public let done: Int
    /// Operations in all.
    public let total: Int
    /// Body bytes received by those that succeeded.
    public let bytes: Int64
    /// 0 to 1.
    public var fraction: Double { total == 0 ? 1 : Double(done) / Double(total) }
  }
}

extension NetworkEngine {
  /// Hands many operations to the queue, as one. Empty is complete at once.
  /// - Parameters:
  ///   - operations: in the order of the results.
  ///   - failFast: the first error cancels the others; false by default.
  @discardableResult
  public func enqueue(_ operations: [NetworkOperation], failFast: Bool = false) -> NetworkBatch {
    let batch = NetworkBatch(
      operations, cancel: { for operation in operations { operation.cancel() } },
      deliver: { [self] in deliverLate($0) })
    // Cancelled ones are failures too: without this each of them would cancel all the others again.
    let failed = Once()
    for (index, operation) in operations.enumerated() {
      operation.onFinal { result in
        if failFast, case .failure = result, failed.first() { batch.cancel() }
        batch.ended(index, result)
      }
    }
    for operation in operations { enqueue(operation) }
    if operations.isEmpty { deliverLate { batch.tell() } }
    return batch
  }
}
