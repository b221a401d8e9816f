internal import Dispatch
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
  /// Fetches every URL of a sequence at low priority, and returns at the end. The sequence is pulled as slots become free, so
  /// memory does not grow with its length; a lazy one may be endless until its task is cancelled, or the engine is shut down.
  ///
  /// - Parameters:
  ///   - urls: absolute http or https URLs, or paths of the engine's host. Pulled where the caller runs.
  ///   - each: after every URL, on the delivery target.
  @discardableResult
  nonisolated(nonsending) public func prefetch(
    _ urls: some Sequence<String>, each: @escaping @Sendable (PrefetchResult) -> Void = { _ in }
  ) async -> PrefetchSummary {
    let prefetch = Prefetch(engine: self, each: each)
    for url in urls {
      await prefetch.wait(.forMore)
      if !prefetch.start(url) { break }
    }
    await prefetch.wait(.toEnd)
    return prefetch.summary
  }

  /// The same with closures; returns at once.
  ///
  /// - Parameters:
  ///   - urls: as above. Pulled on a thread of its own. What `lazy.map` makes is not `Sendable`: without `await` Swift takes the
  ///     `map` that makes all of them first.
  ///   - each: after every URL, on the delivery target.
  ///   - completion: once, at the end, on the delivery target.
  @discardableResult
  public func prefetch(
    _ urls: some Sequence<String> & Sendable, each: @escaping @Sendable (PrefetchResult) -> Void = { _ in },
    completion: @escaping @Sendable (PrefetchSummary) -> Void
  ) -> NetworkBatch {
    let prefetch = Prefetch(engine: self, each: each)
    let batch = NetworkBatch([], cancel: { prefetch.cancel() }, deliver: { [self] in deliverLate($0) })
    let pull: @Sendable () -> Void = { [self] in
      let ready = DispatchSemaphore(value: 0)
      for url in urls {
        prefetch.whenReady(.forMore) { ready.signal() }
        ready.wait()
        if !prefetch.start(url) { break }
      }
      prefetch.whenReady(.toEnd) { [self] in
        deliverLate {
          completion(prefetch.summary)
          batch.tell()
        }
      }
    }
    // In a child of fork(2) no other thread is there to do it.
    if driver.isOfParent { pull() } else { DispatchQueue(label: "netspool.prefetch").async(execute: pull) }
    return batch
  }
}

/// A prefetch under way: a window of operations over a sequence.
final class Prefetch: Sendable {
  enum Readiness {
    /// There is room for another, or no other is wanted.
    case forMore
    /// None is under way, nor comes.
    case toEnd
  }

  private struct State {
    /// Operations under way and waiting.
    let window: Int
    var pending: [UInt64: NetworkOperation] = [:]
    var summary = PrefetchSummary()
    /// It was cancelled, or its engine closed.
    var isStopped = false
    /// The sequence has ended, or nothing more of it is wanted.
    var isPulled = false
    /// The pull of the sequence that waits.
    var waiting: (Readiness, @Sendable () -> Void)?

    /// - Parameter isFirst: one that has waited gets room for many.
    func isReady(_ readiness: Readiness, isFirst: Bool) -> Bool {
      switch readiness {
      case .forMore: isStopped || pending.count < (isFirst ? window : (window + 1) / 2)
      case .toEnd: pending.isEmpty
      }
    }

    mutating func takeReady() -> (@Sendable () -> Void)? {
      guard let (readiness, wake) = waiting, isReady(readiness, isFirst: false) else { return nil }
      waiting = nil
      return wake
    }

    mutating func stop() {
      if !isPulled { summary.wasCancelled = true }
      isStopped = true
    }
  }

  private let engine: NetworkEngine
  private let each: @Sendable (PrefetchResult) -> Void
  private let state: Mutex<State>

  /// Its window keeps every slot busy, and leaves others as much room in the queue: a refusal would take no
  /// time, and run through the sequence.
  init(engine: NetworkEngine, each: @escaping @Sendable (PrefetchResult) -> Void) {
    (self.engine, self.each) = (engine, each)
    state = Mutex(State(window: min(512, max(1, engine.configuration.limits.operationsQueuedMax / 2))))
  }

  var summary: PrefetchSummary { state.withLock { $0.summary } }

  /// Calls back once, when it is so, perhaps at once.
  func whenReady(_ readiness: Readiness, _ wake: @escaping @Sendable () -> Void) {
    let isReady = state.withLock { state in
      if readiness == .toEnd { state.isPulled = true }
      if state.isReady(readiness, isFirst: true) { return true }
      state.waiting = (readiness, wake)
      return false
    }
    if isReady { wake() }
  }

  /// Waits until it is so. A task that is cancelled calls the whole off.
  func wait(_ readiness: Readiness) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in whenReady(readiness) { continuation.resume() } }
    } onCancel: {
      cancel()
    }
  }

  /// False when no other is wanted, nor was this one.
  func start(_ url: String) -> Bool {
    let operation = engine.operation(for: url)
    operation.priority = .low
    // Not the operation itself, which keeps the closure: one that is not wanted never ends.
    operation.onFinal { [self, id = operation.id] result in ended(id, url, result) }
    let isWanted = state.withLock { state in
      if !state.isStopped { state.pending[operation.id] = operation }
      return !state.isStopped
    }
    if isWanted { engine.enqueue(operation) }
    return isWanted
  }

  private func ended(_ id: UInt64, _ url: String, _ result: Result<NetworkResponse, NetworkError>) {
    each(PrefetchResult(url: url, outcome: result))
    let wake = state.withLock { state in
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
      return state.takeReady()
    }
    wake?()
  }

  func cancel() {
    let (operations, wake) = state.withLock { state in
      state.stop()
      return (Array(state.pending.values), state.takeReady())
    }
    for operation in operations { operation.cancel() }
    wake?()
  }
}
