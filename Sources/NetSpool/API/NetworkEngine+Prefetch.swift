internal import Synchronization

/// The end of a URL of a prefetch.
public struct PrefetchResult: Sendable {
  /// The URL as it was given.
  public let url: String
  /// The answer or the error. With a cache the body is stored by then, and need not be kept.
  public let outcome: Result<NetworkResponse, NetworkError>
}

/// The end of a whole prefetch.
public struct PrefetchSummary: Sendable, Hashable {
  /// URLs that were answered.
  public internal(set) var succeeded = 0
  /// URLs that were not.
  public internal(set) var failed = 0
  /// Body bytes received.
  public internal(set) var bytes: Int64 = 0
  /// True when it was cancelled, or its engine closed, before the end of the sequence.
  public internal(set) var wasCancelled = false
}

extension NetworkEngine {
  /// Fetches every URL of a sequence at low priority. The sequence is pulled as slots become free, so memory
  /// does not grow with its length; a lazy one may be endless until `cancel()`, or until the engine is shut down.
  ///
  /// - Parameters:
  ///   - urls: absolute http or https URLs, or paths of the engine's host.
  ///   - each: after every URL, on the delivery target.
  ///   - completion: once, at the end.
  @discardableResult
  public func prefetch<URLs: Sequence<String> & SendableMetatype>(
    _ urls: sending URLs, each: @escaping @Sendable (PrefetchResult) -> Void = { _ in },
    completion: @escaping @Sendable (PrefetchSummary) -> Void
  ) -> NetworkBatch {
    let prefetch = Prefetch(engine: self, urls: urls, each: each, completion: completion)
    let batch = NetworkBatch([], cancel: { prefetch.cancel() }, deliver: { [self] in deliverLate($0) })
    prefetch.start(batch)
    return batch
  }

  /// The same, awaited: returns at the end, without blocking a thread. A task that is cancelled cancels it.
  @discardableResult
  public func prefetch<URLs: Sequence<String> & SendableMetatype>(
    _ urls: sending URLs, each: @escaping @Sendable (PrefetchResult) -> Void = { _ in }
  ) async -> PrefetchSummary {
    let summary = FirstAnswer<PrefetchSummary>()
    let batch = prefetch(urls, each: each) { summary.give($0) }
    return await withTaskCancellationHandler {
      await summary.value
    } onCancel: {
      batch.cancel()
    }
  }
}

/// A prefetch under way: a window of operations over a sequence.
final class Prefetch<URLs: Sequence<String> & SendableMetatype>: Sendable {
  /// Operations under way and waiting; enough to keep every slot busy.
  private static var window: Int { 512 }

  private struct State {
    var pending: [UInt64: NetworkOperation] = [:]
    var summary = PrefetchSummary()
    var isFilling = false
    /// Ends with it.
    var batch: NetworkBatch?
    /// Nothing more is pulled: the sequence has ended, or the prefetch was cancelled.
    var isStopped = false
    var isEnded = false

    mutating func stop() {
      if !isStopped { summary.wasCancelled = true }
      isStopped = true
    }
  }

  private let engine: NetworkEngine
  /// Touched by the one who fills, so the caller's iterator never runs under a lock that others wait for.
  private let urls: Mutex<URLs.Iterator?>
  private let state = Mutex(State())
  private let each: @Sendable (PrefetchResult) -> Void
  private let completion: @Sendable (PrefetchSummary) -> Void

  init(
    engine: NetworkEngine, urls: sending URLs, each: @escaping @Sendable (PrefetchResult) -> Void,
    completion: @escaping @Sendable (PrefetchSummary) -> Void
  ) {
    self.engine = engine
    self.each = each
    self.completion = completion
    self.urls = Mutex(urls.makeIterator())
  }

  func start(_ batch: NetworkBatch) {
    state.withLock { $0.batch = batch }
    fill()
  }

  /// Pulls until the window is full or the sequence has ended. One at a time: who finds another filling leaves
  /// it to that one, who looks for room again before it stops.
  private func fill() {
    let isMine = state.withLock { state in
      defer { state.isFilling = true }
      return !state.isFilling
    }
    guard isMine else { return }
    while hasRoom() {
      guard let url = urls.withLock({ $0?.next() }) else {
        state.withLock { $0.isStopped = true }
        continue
      }
      start(url)
    }
    endIfOver()
  }

  private func hasRoom() -> Bool {
    state.withLock { state in
      state.isFilling = !state.isStopped && state.pending.count < Self.window
      return state.isFilling
    }
  }

  private func start(_ url: String) {
    let operation = engine.operation(for: url)
    operation.priority = .low
    operation.onFinal { [self] result in ended(operation.id, url, result) }
    let isStopped = state.withLock { state in
      state.pending[operation.id] = operation
      return state.isStopped
    }
    if isStopped { operation.cancel() } else { engine.enqueue(operation) }
  }

  private func ended(_ id: UInt64, _ url: String, _ result: Result<NetworkResponse, NetworkError>) {
    let isLow = state.withLock { state in
      state.pending[id] = nil
      switch result {
      case .success(let response):
        state.summary.succeeded += 1
        state.summary.bytes += response.metrics.bytesReceived
      case .failure(let error):
        state.summary.failed += 1
        // So would all that come, at once, and an endless sequence never end.
        if error.code == .engineClosed || error.code == .usedAfterFork { state.stop() }
      }
      return state.pending.count <= Self.window / 2
    }
    each(PrefetchResult(url: url, outcome: result))
    if isLow { fill() }
  }

  func cancel() {
    let operations = state.withLock { state in
      state.stop()
      return Array(state.pending.values)
    }
    for operation in operations { operation.cancel() }
  }

  private func endIfOver() {
    let ended = state.withLock { state -> (summary: PrefetchSummary, batch: NetworkBatch?)? in
      guard state.isStopped, state.pending.isEmpty, !state.isEnded else { return nil }
      state.isEnded = true
      return (state.summary, state.batch.take())
    }
    guard let ended else { return }
    urls.withLock { $0 = nil }  // it may hold on to the batch
    engine.deliverLate { [completion] in
      completion(ended.summary)
      ended.batch?.endIfOver()
    }
  }
}
