internal import Glibc
internal import Synchronization

/// Requests that must not be lost, in one file that is synced with every commit: what was said to be accepted is
/// there whatever happens to the process or the machine.
///
/// Changes are submitted from any thread and written by a thread of the store, many per commit; the callback
/// comes on that thread, after the commit. What a request is, is the owner's business: the store keeps its bytes,
/// its place in its lane, and whether it waits, has its outcome, or is dead. One owner at a time, others of this
/// process included.
final class FrozenStore: Sendable {
  let core: FrozenStoreCore
  /// Counts the openings of this store.
  let epoch: UInt32
  /// Requests whose bytes were not what was written when it was opened: dead letters now.
  let damaged: [UInt64]
  private let isOpen = Atomic(true)

  private init(_ core: FrozenStoreCore, _ report: FrozenRecovery.Report) {
    self.core = core
    epoch = report.meta.epoch
    damaged = report.damaged
  }

  deinit { close() }

  var settings: FrozenStoreSettings { core.settings }

  /// What the directory held when it was opened.
  var opening: EnvironmentOpening { core.environment.opening }

  var statistics: FrozenStatistics { core.withShared { $0.statistics } }

  /// Why nothing is written any more; nil while all is well.
  var failure: NetworkError? { core.withShared { $0.failure } }
}

// MARK: Opening and closing

extension FrozenStore {
  private static let owned = Mutex<Set<FileIdentity>>([])

  /// Opens a directory. What was in flight when the last process went away is as it was: see `scan`.
  ///
  /// Throws `storeOpenFailed(reason)`, `storeInUse(pid)`, `storeBusy`, `storageFull`, `tooManyOpenFiles` or
  /// `engineStartFailed`. A damaged file is no error: it is moved aside (see `opening`).
  static func open(_ settings: FrozenStoreSettings) throws(NetworkError) -> FrozenStore {
    let environment = try Environment.open(settings.environment)
    guard owned.withLock({ $0.insert(environment.identity).inserted }) else {
      environment.drop()
      throw NetworkError(.storeInUse, reason: String(getpid()))
    }
    do {
      let (tables, report) = try recover(environment)
      let core = FrozenStoreCore(
        environment, tables, settings, records: report.records, dropped: report.meta.dropped)
      try core.start(report.meta)
      return FrozenStore(core, report)
    } catch {
      leave(environment)
      throw error
    }
  }

  /// What `open` would find in a directory, which must be there. Nothing in it is changed, and nobody can open it meanwhile.
  static func inspect(
    _ settings: FrozenStoreSettings
  ) throws(NetworkError) -> EnvironmentOpening.Found {
    try EnvironmentOpener(place: EnvironmentPlace(settings.environment), settings: settings.environment)
      .inspect()
  }

  private static func recover(
    _ environment: Environment
  ) throws(NetworkError) -> (FrozenTables, FrozenRecovery.Report) {
    let (tables, report): (FrozenTables, FrozenRecovery.Report?)
    do {
      (tables, report) = try environment.write { transaction throws(StoreError) in
        let tables = try FrozenTables(&transaction)
        let report = try FrozenRecovery(tables: tables).run(&transaction, nowWall: WallClock.microseconds)
        if report != nil { try FrozenTables.removeFormer(&transaction) }
        return (tables, report)
      }
    } catch {
      throw error.failure(error.isFull ? .storageFull : .storeOpenFailed, reason: "databases")
    }
    guard let report else { throw NetworkError(.storeOpenFailed, reason: "newerSchema") }
    return (tables, report)
  }

  private static func leave(_ environment: Environment) {
    owned.withLock { _ = $0.remove(environment.identity) }
    environment.drop()
  }

  /// Writes what was submitted, and closes. Idempotent. Not on the store thread.
  func close() {
    guard isOpen.exchange(false, ordering: .acquiringAndReleasing), core.environment.isOurs else { return }
    core.stop()
    core.endReading()
    Self.leave(core.environment)
  }
}

// MARK: Changing

extension FrozenStore {
  /// Has a change written. The callback comes on the store thread, once the change is on the disk, or with
  ///
  /// - `queueFull(frozenRecords)`, `queueFull(frozenBytes)`, `storageFull`: nothing was accepted;
  /// - `storeCorrupt`: the request is not there, or its bytes are not what was written;
  /// - `storeFailed`: the disk refused, and nothing is written any more;
  /// - `engineClosed`, `usedAfterFork`: at once, on the caller's thread.
  ///
  /// What ends a request does not fail for a full disk: it is tried again until there is room, or the store is
  /// closed.
  func submit(_ change: FrozenChange, _ callback: FrozenCallback? = nil) {
    guard core.environment.isOurs else {
      callback?(.failure(NetworkError(.usedAfterFork)))
      return
    }
    if core.submit(FrozenStoreCore.Work(change: change, callback: callback)) { return }
    callback?(.failure(NetworkError(.engineClosed)))
  }
}
