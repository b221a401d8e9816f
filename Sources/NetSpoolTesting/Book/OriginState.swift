import Synchronization

/// The state that the origin's thread and its users share, behind a lock. No closure of a user runs under it.
final class OriginState: Sendable {
  private struct Book {
    var routes = RouteBook()
    var gates = GateBook()
    var log: RequestLog
    var expect = ExpectPolicy.answer
    var waiters: [Waiter] = []
    var nextWaiter = 0

    mutating func takeMetWaiters() -> [Waiter] {
      guard !waiters.isEmpty else { return [] }
      let met = waiters.filter { $0.condition.isMet(log: log, gates: gates) }
      waiters.removeAll { waiter in met.contains { $0.id == waiter.id } }
      return met
    }
  }

  let limits: OriginLimits
  let waker: Waker
  /// Nil: real time.
  let clock: ManualClock?
  private let book: Mutex<Book>

  init(limits: OriginLimits, waker: Waker, clock: ManualClock? = nil) {
    self.limits = limits
    self.waker = waker
    self.clock = clock
    clock?.add(waker)
    book = Mutex(Book(log: RequestLog(limits: limits)))
  }

  /// Changes the book, then resumes those whose condition has come true, outside the lock.
  private func update<Value: Sendable>(_ change: (inout sending Book) -> Value) -> Value {
    let (value, met) = book.withLock { book in
      let value = change(&book)
      return (value, book.takeMetWaiters())
    }
    for waiter in met { waiter.resume(true) }
    return value
  }

  func changeRoutes(_ change: (inout RouteBook) -> Void) { book.withLock { change(&$0.routes) } }

  /// Changes the gates and wakes the connections that may wait at them.
  func changeGates(_ change: (inout GateBook) -> Void) {
    update { change(&$0.gates) }
    waker.wake()
  }

  func readLog<Value: Sendable>(_ read: (RequestLog) -> Value) -> Value { book.withLock { read($0.log) } }

  func changeLog(_ change: (inout RequestLog) -> Void) { update { change(&$0.log) } }

  func takeRequest() -> RecordedRequest? { book.withLock { $0.log.take() } }

  func waiting(at gate: String) -> Int { book.withLock { $0.gates.waiting[gate, default: 0] } }

  var expectPolicy: ExpectPolicy {
    get { book.withLock { $0.expect } }
    set { book.withLock { $0.expect = newValue } }
  }
}

// What the origin's thread asks.
extension OriginState {
  var releaseCount: Int { book.withLock { $0.gates.releaseCount } }

  func pass(_ gate: String) -> Bool { book.withLock { $0.gates.pass(gate) } }

  func arrive(at gate: String) { update { $0.gates.arrive(gate) } }

  func leave(_ gate: String) { update { $0.gates.leave(gate) } }

  /// Counts a connection; answers its number.
  func didAccept() -> Int {
    update { book in
      book.log.openConnections += 1
      book.log.connectionCount += 1
      return book.log.connectionCount - 1
    }
  }

  func acceptFault() -> FaultAction? { book.withLock { $0.routes.takeForAccept() } }

  /// Records a whole request; tells its number, and whether its path is held.
  func record(_ request: RecordedRequest) -> (number: Int, isHeld: Bool) {
    update { book in (book.log.record(request), book.gates.isHeld(request.path)) }
  }

  /// Chooses the answer. A closure is called on the origin's thread, outside the lock.
  func answer(_ request: RecordedRequest) -> Answer {
    switch book.withLock({ $0.routes.take(request.path, request.method) }) {
    case .fixed(let answer): answer
    case .made(let closure): closure(request)
    }
  }

  /// An answer that does not wait for the body.
  func earlyAnswer(_ request: @autoclosure () -> RecordedRequest, path: String, method: String) -> Answer? {
    let (early, closure) = book.withLock { ($0.routes.takeEarly(path, method), $0.routes.headClosure(path)) }
    return early ?? closure?(request())
  }
}

extension OriginState {
  /// Registers one who waits; nil when the condition is met already and `resume` will not be called.
  func addWaiter(_ condition: WaitCondition, resume: @escaping @Sendable (Bool) -> Void) -> Int? {
    book.withLock { book in
      if condition.isMet(log: book.log, gates: book.gates) { return nil }
      book.nextWaiter += 1
      book.waiters.append(Waiter(id: book.nextWaiter, condition: condition, resume: resume))
      return book.nextWaiter
    }
  }

  /// Gives up waiting; false when the condition came true first.
  @discardableResult
  func expireWaiter(_ id: Int) -> Bool {
    let expired: Waiter? = book.withLock { book in
      guard let index = book.waiters.firstIndex(where: { $0.id == id }) else { return nil }
      return book.waiters.remove(at: index)
    }
    expired?.resume(false)
    return expired != nil
  }
}
