internal import Synchronization

/// Operations that wait for others: `dependencies` knows those of this queue, `WaitGraph` who waits for itself over whatever
/// queues.
extension Scheduler {
  /// True when it must wait for others first.
  func block(_ operation: NetworkOperation, behind others: [NetworkOperation]) throws(NetworkError) -> Bool {
    if others.count > Self.bulkPiece {
      blockInPieces(operation, behind: others)
      return true
    }
    let mayClose = note(operation, behind: others[...])
    guard dependencies.isBlocked(operation) else { return false }
    if mayClose { try lookForCycle(over: operation) }
    move(operation, to: .waiting(.others))
    return true
  }

  /// Others do not wait until a hundred thousand edges are noted. It waits for itself meanwhile, so that it goes behind them all.
  private func blockInPieces(_ operation: NetworkOperation, behind others: [NetworkOperation]) {
    dependencies.add(operation, after: operation)
    move(operation, to: .waiting(.others))
    var (left, mayClose) = (others[...], false)
    doInPieces { [unowned self] in
      guard case .waiting(.others) = operation.loop.phase else { return false }
      mayClose = note(operation, behind: left.prefix(Self.bulkPiece)) || mayClose
      left = left.dropFirst(Self.bulkPiece)
      if !left.isEmpty { return true }
      do throws(NetworkError) {
        if mayClose { try lookForCycle(over: operation) }
      } catch {
        move(operation, to: .ended)
        conclude(operation, error)
        return false
      }
      if dependencies.release(operation, from: operation) { enqueue(operation, operation.sent) }
      return false
    }
  }

  /// True when that may have closed a cycle.
  private func note(_ operation: NetworkOperation, behind others: ArraySlice<NetworkOperation>) -> Bool {
    var mayClose = false
    for other in others {
      guard let closes = other.beginAwait(by: operation) else { continue }
      mayClose = mayClose || closes
      dependencies.add(operation, after: other)
      if other.engine.driver !== driver { hear(of: other) }
    }
    return mayClose
  }

  /// Hears of the end of an operation of another queue, which is on another loop.
  private func hear(of other: NetworkOperation) {
    let port = port
    other.add(.ended { port.perform(of: QueueDriver.Command.house) { $0.release(other) } })
  }

  /// Releases those that wait for it on other loops.
  func releaseElsewhere(_ operation: NetworkOperation) {
    loop.assertOnLoop()
    driver.performEverywhere(of: QueueDriver.Command.house) { [own = port.loop.number] core in
      if core.port.loop.number != own { core.release(operation) }
    }
  }

  /// What cannot be seen at once is looked for while the operation waits.
  private func lookForCycle(over operation: NetworkOperation) throws(NetworkError) {
    var search = CycleSearch(operation.id, in: .ofProcess)
    var result = search.goOn()
    if result == .cycle { throw Self.cycle }
    guard result == .goesOn else { return }
    doInPieces { [unowned self] in
      guard case .waiting(.others) = operation.loop.phase else { return false }
      result = search.goOn()
      guard result == .cycle else { return result == .goesOn }
      move(operation, to: .ended)
      conclude(operation, Self.cycle)
      return false
    }
  }

  private static var cycle: NetworkError {
    NetworkError(.invalidRequest, reason: "a cycle of dependencies")
  }
}

extension NetworkOperation {
  /// Any thread: another that has been enqueued waits for it from now on. Whether that may close a cycle; nil when it has ended.
  fileprivate func beginAwait(by other: NetworkOperation) -> Bool? {
    shared.withLock { shared in
      shared.outcome == nil ? WaitGraph.ofProcess.add(other.id, after: id) : nil
    }
  }

  /// Notes that nobody waits for it any more, and it for nobody.
  func leaveWaitGraph() {
    if !engine.driver.isOfParent { WaitGraph.ofProcess.remove(id) }
  }
}
