extension NetworkOperation {
  /// Where the loop has an operation. What belongs to a phase stands in it, and goes with it; nothing else says where
  /// an operation is. `Scheduler.move(_:to:)` alone changes it.
  enum Phase {
    /// The queue does not know it yet.
    case ready
    /// Others must end first.
    case blocked
    /// For the addresses of its origin's name, for so long at most.
    case resolving(TimerTable.Key)
    /// For a slot: its place in the queue.
    case waiting(Ticket)
    /// An equal request, its leader, has an exchange for both.
    case sharing(NetworkOperation)
    /// Its exchange is on the wire.
    case running
    /// Its exchange is over, and what follows is about to be decided: only inside one function of the loop.
    case deciding
    /// For the time of the next attempt.
    case delayed(TimerTable.Key)
    /// A provider of credentials is asked, for so long at most.
    case asking(TimerTable.Key)
    /// Stopped by its user, with its exchange or before it.
    case paused
    /// A stored body is on its way into its streams; nil while it waits for its turn.
    case playing(CachePlayback?)
    /// The body is whole, or never will be: its streams finish.
    case publishing
    /// Its request is with a store of frozen requests.
    case frozen(Freezer)
    case ended
  }

  /// The operation whose exchange this one gets its answer from: another that it shares with, or itself.
  var leader: NetworkOperation {
    if case .sharing(let leader) = loop.phase { leader } else { self }
  }
}

/// All operations that the queue knows and that have not ended, in the order in which they came: a list whose links
/// are in the operations, because millions may wait. Loop thread.
struct OperationTable {
  private var first: NetworkOperation?
  private var last: NetworkOperation?

  var isEmpty: Bool { first == nil }

  mutating func insert(_ operation: NetworkOperation) {
    operation.loop.previous = last
    if let last { last.loop.next = operation } else { first = operation }
    last = operation
  }

  mutating func remove(_ operation: NetworkOperation) {
    let (previous, next) = (operation.loop.previous, operation.loop.next)
    if let previous { previous.loop.next = next } else { first = next }
    if let next { next.loop.previous = previous } else { last = previous }
    (operation.loop.previous, operation.loop.next) = (nil, nil)
  }

  /// Those that match, collected first: whoever asks is about to end some of them.
  func all(where matches: (NetworkOperation) -> Bool = { _ in true }) -> [NetworkOperation] {
    var found: [NetworkOperation] = []
    forEach { if matches($0) { found.append($0) } }
    return found
  }

  func forEach(_ body: (NetworkOperation) -> Void) {
    var current = first
    while let operation = current {
      current = operation.loop.next
      body(operation)
    }
  }
}

extension Scheduler {
  /// The one place where an operation goes from one phase to another: what belongs to the old one is given back here,
  /// and what the new one counts for is counted.
  func move(_ operation: NetworkOperation, to phase: NetworkOperation.Phase) {
    loop.assertOnLoop()
    let old = operation.loop.phase
    if case .ended = old { return }
    operation.loop.phase = phase
    leave(old, operation)
    enter(phase, operation)
  }

  private func leave(_ phase: NetworkOperation.Phase, _ operation: NetworkOperation) {
    switch phase {
    case .ready: operations.insert(operation)
    case .resolving(let timer):
      timers.cancel(timer)
      leaveName(operation)
    case .waiting(let ticket): queue.remove(ticket)  // nothing when it left with its turn
    case .running: leaveWire(operation)
    case .sharing(let leader): leader.makeExtras().waitersLeft -= 1
    case .delayed(let timer), .asking(let timer): timers.cancel(timer)
    case .playing(let playback?):
      playback.stop()
      publishing -= 1
    case .publishing: publishing -= 1
    case .playing(nil), .blocked, .deciding, .paused, .frozen, .ended: break
    }
  }

  private func enter(_ phase: NetworkOperation.Phase, _ operation: NetworkOperation) {
    switch phase {
    case .running: enterWire(operation)
    case .sharing(let leader): leader.makeExtras().waitersLeft += 1
    case .delayed, .asking: forEachRecipient(of: operation) { set(.queued, $0) }
    case .paused: set(.paused, operation)
    case .playing(_?), .publishing: publishing += 1
    case .ended: operations.remove(operation)
    case .ready, .blocked, .resolving, .waiting, .deciding, .playing(nil), .frozen: break
    }
  }

  private func enterWire(_ operation: NetworkOperation) {
    guard let transfer = operation.loop.transfer else { return }
    transfer.slot = running.count
    running.append(transfer)
    if tick?.isActive == false { tick?.start(milliseconds: 50, repeating: 50) }
  }

  /// Gives the slot back; what the origin's width learns of it is told by whoever knows how it went.
  private func leaveWire(_ operation: NetworkOperation) {
    if let transfer = operation.loop.transfer {
      let last = running.removeLast()
      if last !== transfer {
        running[transfer.slot] = last
        last.slot = transfer.slot
      }
      transfer.slot = -1
    }
    if let origin = operation.loop.origin { queue.finished(origin.id) }
  }
}
