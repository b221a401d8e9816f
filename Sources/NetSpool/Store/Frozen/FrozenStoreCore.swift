internal import Glibc
internal import Synchronization

/// What a frozen store's thread and its users share.
final class FrozenStoreCore: Sendable {
  let environment: Environment
  let tables: FrozenTables
  let settings: FrozenStoreSettings
  let wakeUp = SystemSemaphore()
  private let shared: Mutex<Shared>
  /// Shared by readers, taken by the store thread while the map moves.
  private let mapUse = SharedLock()
  private let hasMap = Atomic(true)
  private let thread = Mutex<SystemThread?>(nil)

  struct Work: Sendable {
    let change: FrozenChange
    let callback: FrozenCallback?
  }

  /// Always under one lock.
  struct Shared: ~Copyable {
    var waiting = FIFO<Work>()
    /// The store thread waits for a signal.
    var isAsleep = false
    var isClosing = false
    /// The disk refused: nothing is written any more.
    var failure: NetworkError?
    var statistics = FrozenStatistics()

    mutating func wake() -> Bool {
      defer { isAsleep = false }
      return isAsleep
    }
  }

  init(
    _ environment: Environment, _ tables: FrozenTables, _ settings: FrozenStoreSettings, records: Int,
    dropped: UInt64
  ) {
    self.environment = environment
    self.tables = tables
    self.settings = settings
    var first = Shared()
    first.statistics.records = records
    first.statistics.dropped = Int(clamping: dropped)
    shared = Mutex(first)
  }

  func withShared<Result: Sendable>(_ body: (inout Shared) -> Result) -> Result {
    shared.withLock { body(&$0) }
  }

  func start(_ meta: FrozenMeta) throws(NetworkError) {
    do {
      let started = try SystemThread.start(name: "netspool-frozen") { [self] in
        FrozenStoreThread(self, meta).run()
      }
      thread.withLock { $0 = started }
    } catch {
      throw NetworkError(.engineStartFailed, reason: "threads", underlying: .errno(error.errno))
    }
  }

  /// Writes what waits and ends the thread.
  func stop() {
    let mustWake = shared.withLock { shared in
      shared.isClosing = true
      return shared.wake()
    }
    if mustWake { wakeUp.signal() }
    let ending = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    ending?.join()
  }

  /// False when it was closed; then the work was not taken.
  func submit(_ work: Work) -> Bool {
    let (isTaken, mustWake) = shared.withLock { shared in
      if shared.isClosing { return (false, false) }
      shared.waiting.append(work)
      return (true, shared.wake())
    }
    if mustWake { wakeUp.signal() }
    return isTaken
  }
}

// MARK: The map

extension FrozenStoreCore {
  func read<Result: Sendable>(
    _ body: (borrowing ReadTransaction) throws(StoreError) -> Result
  ) throws(NetworkError) -> Result {
    guard environment.isOurs else { throw NetworkError(.usedAfterFork) }
    return try mapUse.reading { () throws(NetworkError) in
      guard hasMap.load(ordering: .acquiring) else { throw NetworkError(.engineClosed) }
      do throws(StoreError) {
        let transaction = try environment.read()
        return try body(transaction)
      } catch {
        throw error.failure()
      }
    }
  }

  /// Waits until nobody reads any more; to be called before the environment is released.
  func endReading() { mapUse.changing { hasMap.store(false, ordering: .releasing) } }

  /// A sixteenth more than there was. On the store thread, outside transactions.
  func growMap() -> Bool {
    mapUse.changing {
      let bytes = environment.mapBytes + max(environment.mapBytes / 16, 1 << 20)
      return (try? environment.grow(to: bytes / environment.pageBytes * environment.pageBytes)) != nil
    }
  }
}
