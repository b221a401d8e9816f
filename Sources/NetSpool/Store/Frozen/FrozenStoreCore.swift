internal import Synchronization

/// What a frozen store's writer and its readers share.
final class FrozenStoreCore: Sendable {
  let environment: Environment
  let tables: FrozenTables
  let settings: FrozenStoreSettings
  let shared: Mutex<Shared>
  /// Shared by readers, taken by the writer while the map moves.
  private let mapUse = SharedLock()
  private let hasMap = Atomic(true)

  /// Always under one lock, which no thread holds while it waits for the disk.
  struct Shared {
    /// The disk refused: nothing is written any more.
    var failure: NetworkError?
    var statistics = FrozenStatistics()
  }

  init(
    _ environment: Environment, _ tables: FrozenTables, _ settings: FrozenStoreSettings, records: Int,
    dropped: UInt64
  ) {
    self.environment = environment
    self.tables = tables
    self.settings = settings
    let statistics = FrozenStatistics(records: records, dropped: Int(clamping: dropped))
    shared = Mutex(Shared(statistics: statistics))
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

  /// Waits until no reader is left; to be called before the environment is released.
  func endReading() { mapUse.changing { hasMap.store(false, ordering: .releasing) } }

  /// A sixteenth more than there was. By the writer, outside transactions.
  func growMap() -> Bool {
    mapUse.changing {
      let bytes = environment.mapBytes + max(environment.mapBytes / 16, 1 << 20)
      return (try? environment.grow(to: bytes / environment.pageBytes * environment.pageBytes)) != nil
    }
  }
}
