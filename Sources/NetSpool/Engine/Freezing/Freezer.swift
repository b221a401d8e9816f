internal import Synchronization

/// A store of frozen requests, open in this process, and the queue whose loop takes care of it. All engines that name
/// the same directory share it. Any thread.
final class Freezer: Sendable {
  struct Settings: Sendable {
    var store: FrozenStoreSettings
    var policy = FrozenPolicy.standard
    var limits = FrozenLimits()
    var now: @Sendable () -> FrozenMoment = {
      FrozenMoment(wall: WallClock.microseconds, monotonic: MonotonicClock.now)
    }

    init(store: FrozenStoreSettings) { self.store = store }
  }

  let store: FrozenStore
  let settings: Settings
  let driver: QueueDriver
  private let trouble = Mutex<NetworkError?>(nil)

  private struct Entry: Sendable {
    weak var freezer: Freezer?
  }

  private static let open = Mutex<[String: Entry]>([:])

  private init(_ store: FrozenStore, _ settings: Settings, _ driver: QueueDriver) {
    self.store = store
    self.settings = settings
    self.driver = driver
  }

  /// The store of a directory, opened if this process has not done so. The first user's settings and queue count. What
  /// earlier processes left there is sent as soon as the engine it belongs to has come.
  ///
  /// Throws what `FrozenStore.open` does, and `engineClosed`.
  static func shared(_ settings: Settings, driver: QueueDriver) throws(NetworkError) -> Freezer {
    let result = open.withLock { open in
      Result { () throws(NetworkError) in
        if let known = open[settings.store.directory]?.freezer { return known }
        let freezer = Freezer(try FrozenStore.open(settings.store), settings, driver)
        guard driver.perform({ $0.begin(freezer) }) else { throw NetworkError(.engineClosed) }
        open[settings.store.directory] = Entry(freezer: freezer)
        return freezer
      }
    }
    return try result.get()
  }

  /// Has an operation's request kept, or ends the operation with the reason why not. Loop thread of the operation.
  func accept(_ submission: FrozenDispatcher.Submission, from core: Scheduler) {
    let operation = submission.operation
    if core.driver === driver { return accept(submission, in: core) }
    if !driver.perform({ [self] in accept(submission, in: $0) }) {
      core.endFrozen(operation, .failure(NetworkError(.engineClosed)))
    }
  }

  private func accept(_ submission: FrozenDispatcher.Submission, in core: Scheduler) {
    if let dispatcher = core.dispatchers[ObjectIdentifier(self)] { return dispatcher.accept(submission) }
    let (operation, failure) = (submission.operation, trouble.withLock { $0 } ?? NetworkError(.engineClosed))
    if operation.engine.driver === core.driver { return core.endFrozen(operation, .failure(failure)) }
    operation.engine.driver.perform { $0.endFrozen(operation, .failure(failure)) }
  }

  /// False when it is closed, so that there is nothing to leave.
  func leave(_ engine: NetworkEngine, deadline: Duration, _ done: @escaping @Sendable () -> Void) -> Bool {
    driver.perform { [self] core in
      guard let dispatcher = core.dispatchers[ObjectIdentifier(self)] else { return done() }
      dispatcher.leave(engine, deadline: deadline, done)
    }
  }

  func whenStill(_ done: @escaping @Sendable () -> Void) {
    let isOpen = driver.perform { [self] core in
      guard let dispatcher = core.dispatchers[ObjectIdentifier(self)] else { return done() }
      dispatcher.perform { $0.whenStill.append(done) }
    }
    if !isOpen { done() }
  }

  /// Its requests cannot be read.
  func fail(_ failure: NetworkError) {
    trouble.withLock { $0 = failure }
    close()
  }

  /// Writes what was submitted, and lets another process have the store.
  func close() {
    Self.open.withLock { open in
      if open[settings.store.directory]?.freezer === self { open[settings.store.directory] = nil }
    }
    store.close()
  }

  /// Something is done with it on the loop thread that has it; nothing when it is closed.
  @discardableResult
  func dispatch(_ body: @escaping @Sendable (FrozenDispatcher) -> Void) -> Bool {
    driver.perform { [self] core in core.dispatchers[ObjectIdentifier(self)]?.perform(body) }
  }
}
