internal import Synchronization

/// The things that the parts of a scheduler share: the loop, its timers, the way back to it, and what is done in pieces. Loop
/// thread.
final class LoopContext {
  /// The way to this loop, for other threads.
  let port: LoopPort
  let loop: EventLoop
  let timers: TimerTable
  let outbox: Outbox<Delivery>
  // Safe because the loop thread alone has a context, as `doInPieces` asserts, and a list calls nobody back.
  @safe @exclusivity(unchecked) var work = TurnQueue()

  /// What waits for its turn.
  @safe @exclusivity(unchecked) var queue = AdmissionQueue<NetworkOperation>()

  /// The queue ends: nothing begins any more.
  var isClosing = false

  /// Has an operation take a step that it has waited for.
  var goOn: (NetworkOperation, Step) -> Void = { _, _ in }

  /// Ends one operation, from our side.
  var withdraw: (NetworkOperation, NetworkError) -> Void = { _, _ in }

  struct Delivery: Sendable {
    let operation: NetworkOperation
    let event: NetworkOperation.Notice
  }

  init(port: LoopPort, timeline: Timeline?) throws(NetworkError) {
    self.port = port
    loop = try EventLoop(mailbox: port.loop.mailbox, watch: port.loop.watch, timeline: timeline)
    timers = TimerTable(loop: loop)
    outbox = Outbox { [driver = port.driver] delivery in
      delivery.operation.deliver(delivery.event)
      switch delivery.event {
      case .final(let weight), .awaited(let weight): delivery.operation.engine.didDeliver(weight)
      case .frozen: driver.decrement()  // it waits on the disk, and the queue not for it
      default: break
      }
    }
    timers.onFire = { [unowned self] in doInPieces { [unowned self] in timers.runPiece() } }
  }

  func tell(_ operation: NetworkOperation, _ event: NetworkOperation.Notice) {
    outbox.put(
      Delivery(operation: operation, event: event), to: operation.engine.target, key: operation.engine.id)
  }

  /// Has this loop itself resume what awaits an end, with the others of the turn.
  func resume(_ operation: NetworkOperation, _ weight: Int) {
    loop.assertOnLoop()
    outbox.put(Delivery(operation: operation, event: .awaited(weight)), to: .loopThread, key: 0)
  }

  // MARK: States and urgency

  /// Changes the state of one that has not ended, and says so if someone listens.
  func set(_ state: NetworkOperation.State, _ operation: NetworkOperation) {
    loop.assertOnLoop()
    let isHeard = operation.shared.withLock { shared in
      guard shared.outcome == nil, shared.state != state else { return false }
      shared.state = state
      return shared.handlers.wantsState
    }
    if isHeard { tell(operation, .state(state)) }
  }

  /// Its exchange runs: it has waited long enough.
  func didStart(_ operation: NetworkOperation) {
    timers.cancel(operation.loop.history?.queueDeadline)
    let use = operation.leader.loop.cacheUse
    set(use.map { $0.isConditional || $0.early != nil } ?? false ? .revalidating : .executing, operation)
  }

  func raise(_ leader: NetworkOperation, to priority: NetworkRequest.Priority) {
    leader.loop.priority = priority
    guard case .waiting(.turn(let ticket)) = leader.loop.phase else { return }
    _ = queue.reprioritise(ticket, to: priority)
  }

  // MARK: Later

  /// What libcurl's callbacks noted, to be done when libcurl is not at work.
  @safe @exclusivity(unchecked) private(set) var deferred: [() -> Void] = []

  func later(_ body: @escaping () -> Void) {
    loop.assertOnLoop()
    deferred.append(body)
    loop.markDirty()
  }

  func runDeferred() {
    while !deferred.isEmpty {
      let ready = deferred
      deferred = []
      for body in ready { body() }
    }
  }

  // MARK: Many at once

  /// - Parameter doPiece: does some of it; answers whether more is left.
  func doInPieces(_ doPiece: @escaping () -> Bool) {
    loop.assertOnLoop()
    work.append(TurnQueue.Work(doPiece: doPiece))
    loop.markDirty()
  }

  /// Does something for many, some of them in each turn, and so in turn with what is done for others: none waits for all.
  func forEach<Each>(of all: [Each], _ body: @escaping (Each) -> Void) {
    if all.isEmpty { return }
    var left = all[...]
    doInPieces {
      for each in left.prefix(Turn.piece) { body(each) }
      left = left.dropFirst(Turn.piece)
      return !left.isEmpty
    }
  }

  /// Lets all that wait go on, some in each turn. What is called off meanwhile does not.
  func letGo(_ list: WaitList, _ failure: NetworkError? = nil) {
    if list.isEmpty { return }
    let leaving = WaitList()
    while let wait = list.popFirst() { leaving.append(wait) }
    doInPieces {
      for _ in 0..<Turn.piece { leaving.popFirst()?.goOn(failure) }
      return !leaving.isEmpty
    }
  }
}
