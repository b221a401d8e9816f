internal import Dispatch
internal import Glibc
internal import Synchronization

/// The way to the delivery target that does not lead over the loop. Any thread.
extension NetworkEngine {
  /// A handler that came after the end.
  func deliverLate(_ body: @escaping @Sendable () -> Void) {
    // In a child of fork(2) no other thread is there to do it.
    if driver.isOfParent { return NetSpool.Delivery.run([()]) { body() } }
    switch target {
    case .queue(let queue): queue.async { NetSpool.Delivery.run([()]) { body() } }
    case .loopThread:
      if driver.perform({ _ in NetSpool.Delivery.run([()]) { body() } }) { return }
      Self.withoutLoop.async { NetSpool.Delivery.run([()]) { body() } }
    }
  }

  /// One that ended without the loop. Many that end in a row share one hop to the delivery target: those that
  /// end while it delivers go along.
  func deliverSoon(_ operation: NetworkOperation) {
    if driver.isOfParent { return deliverLate { operation.deliverEnd() } }
    let isFetched = ended.add(operation)
    if !isFetched { deliverLate { [self] in deliverEnded() } }
  }

  private func deliverEnded() {
    var isBurst = false
    var batch: [NetworkOperation] = []
    for _ in 0..<Self.batchesMax {
      if isBurst { ended.awaitNext() }
      ended.take(into: &batch)
      if batch.isEmpty { return }
      if batch.count > 1 { isBurst = true }
      for operation in batch {
        operation.deliverEnd()
      }
      batch.removeAll(keepingCapacity: true)
    }
    deliverLate { [self] in deliverEnded() }
  }

  /// Then others that have something for the delivery target get their turn.
  private static let batchesMax = 16

  /// Where closures run that belong on a loop thread that is no more: an ending must come all the same.
  private static let withoutLoop = DispatchQueue(label: "netspool.without-loop")
}

/// Operations of one engine that ended without the loop and are not yet delivered.
final class EndedOperations: Sendable {
  private struct State {
    var operations: [NetworkOperation] = []
    /// Somebody is on the way to the delivery target, or there.
    var isFetched = false
  }

  private let state = Mutex(State())
  private let hasSome = Atomic(false)

  /// True when somebody is on the way already, who takes this one along.
  func add(_ operation: NetworkOperation) -> Bool {
    state.withLock { state in
      state.operations.append(operation)
      hasSome.store(true, ordering: .relaxed)
      defer { state.isFetched = true }
      return state.isFetched
    }
  }

  /// Leaves the emptied buffer in exchange.
  func take(into batch: inout [NetworkOperation]) {
    state.withLock { state in
      swap(&state.operations, &batch)
      state.isFetched = !batch.isEmpty
      hasSome.store(false, ordering: .relaxed)
    }
  }

  /// Where several ended just now the next is a few microseconds away, and to be woken for it costs both threads
  /// more than to look again.
  func awaitNext() {
    for _ in 0..<Self.looksMax where !hasSome.load(ordering: .relaxed) { sched_yield() }
  }

  private static let looksMax = 16
}
