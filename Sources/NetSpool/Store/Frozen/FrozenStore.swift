internal import Glibc
internal import Synchronization

/// Requests that must not be lost, in one file that is synced with every commit: what was said to be accepted is
/// there whatever happens to the process or the machine.
///
/// Any thread reads; changes are written on the thread of the owner, which waits for the disk (`FrozenJournal` gathers many
/// for a commit). What a request is, is the owner's business: the store keeps its bytes, its place in its lane, and whether it
/// waits, has its outcome, or is dead. One owner at a time, others of this process included.
final class FrozenStore: Sendable {
  let core: FrozenStoreCore
  /// Held while the disk is waited for.
  private let writer: Mutex<FrozenWriter>
  /// Counts the openings of this store.
  let epoch: UInt32
  /// Requests that were damaged when the store was opened: dead letters now.
  let damaged: [UInt64]
  /// What was found in a damaged file.
  let salvaged: FrozenSalvage.Report
  private let isOpen = Atomic(true)

  private init(_ core: FrozenStoreCore, _ report: FrozenRecovery.Report, _ salvaged: FrozenSalvage.Report) {
    self.core = core
    writer = Mutex(FrozenWriter(core, report.meta))
    self.salvaged = salvaged
    epoch = report.meta.epoch
    damaged = report.damaged
  }

  deinit { close() }

  var settings: FrozenStoreSettings { core.settings }

  /// What the directory held when it was opened.
  var opening: EnvironmentOpening { core.environment.opening }

  var statistics: FrozenStatistics { core.shared.withLock { $0.statistics } }

  /// Why nothing is written any more; nil while all is well.
  var failure: NetworkError? { core.shared.withLock { $0.failure } }
}

// MARK: Opening and closing

extension FrozenStore {
  private static let owned = Mutex<Set<FileIdentity>>([])

  /// Opens a directory. What was in flight when the last process went away is as it was: see `scan`.
  ///
  /// Throws `storeOpenFailed(reason)`, `storeInUse(pid)`, `storeBusy`, `storageFull` or
  /// `tooManyOpenFiles`. A damaged file is no error: it is moved aside (see `opening`), and what is still whole in it
  /// is taken over (`salvaged`).
  static func open(_ settings: FrozenStoreSettings) throws(NetworkError) -> FrozenStore {
    let environment = try Environment.open(settings.environment)
    guard owned.withLock({ $0.insert(environment.identity).inserted }) else {
      environment.drop()
      throw NetworkError(.storeInUse, about: String(getpid()))
    }
    do {
      let (tables, report, salvaged) = try recover(environment)
      let core = FrozenStoreCore(
        environment, tables, settings, records: report.records, dropped: report.meta.dropped)
      return FrozenStore(core, report, salvaged)
    } catch {
      leave(environment)
      throw error
    }
  }

  /// Finds what `open` would find in a directory, which must be there. Changes nothing in it; no process can open it meanwhile.
  static func inspect(_ settings: FrozenStoreSettings) throws(NetworkError) -> EnvironmentOpening.Found {
    try EnvironmentOpener(
      directory: EnvironmentDirectory(settings.environment), settings: settings.environment
    )
    .inspect()
  }

  private static func recover(
    _ environment: Environment
  ) throws(NetworkError) -> (FrozenTables, FrozenRecovery.Report, FrozenSalvage.Report) {
    let (tables, report): (FrozenTables, FrozenRecovery.Report?)
    let salvaged: FrozenSalvage.Report
    do {
      tables = try environment.write { transaction throws(StoreError) in try FrozenTables(&transaction) }
      salvaged = try FrozenSalvage(environment: environment, tables: tables).run()
      let earlier = environment.directory.badCount
      report = try environment.write { transaction throws(StoreError) in
        let report = try FrozenRecovery(tables: tables, earlierFiles: earlier)
          .run(&transaction, at: .now)
        for name in FrozenTables.former where report != nil { try transaction.removeDatabase(name) }
        return report
      }
    } catch {
      throw error.failure(error.isFull ? .storageFull : .storeOpenFailed, reason: "databases")
    }
    guard let report else { throw NetworkError(.storeOpenFailed, cause: .newerSchema) }
    return (tables, report, salvaged)
  }

  private static func leave(_ environment: Environment) {
    owned.withLock { _ = $0.remove(environment.identity) }
    environment.drop()
  }

  /// Waits for a commit that is under way, and closes. Idempotent.
  func close() {
    guard isOpen.exchange(false, ordering: .acquiringAndReleasing), core.environment.isOurs else { return }
    writer.withLock { _ in core.endReading() }
    Self.leave(core.environment)
  }
}

// MARK: Changing

extension FrozenStore {
  /// Writes changes in one commit, and waits for the disk: each is there when its answer comes, or has failed with
  ///
  /// - `queueFull(frozenRecords)`, `queueFull(frozenBytes)`, `storageFull`: nothing was accepted;
  /// - `storeCorrupt`: the request is not there, or its bytes are not what was written;
  /// - `storeFailed`: the disk refused, and nothing is written any more;
  /// - `engineClosed`, `usedAfterFork`: nothing is written any more.
  ///
  /// What ends a request does not fail for a full disk: it has no answer, and is to be written again once there is room.
  func commit(_ changes: [FrozenChange]) -> [FrozenAnswer?] {
    guard core.environment.isOurs else { return changes.map { _ in .failure(NetworkError(.usedAfterFork)) } }
    return writer.withLock { writer in
      guard isOpen.load(ordering: .acquiring) else {
        return changes.map { _ in .failure(NetworkError(.engineClosed)) }
      }
      return writer.commit(changes)
    }
  }
}

/// Numbers of a frozen store.
struct FrozenStoreSettings: Sendable {
  /// A directory of its own; made with permissions 0700 when it is missing.
  var directory: String
  /// Bytes of the file in use at most; from 85 % of them on nothing more is accepted. 1 GiB.
  var bytesMax = 1 << 30
  /// Requests that wait at most. 100,000.
  var recordsMax = 100_000
  /// Outcomes and dead letters go after so long. 7 days.
  var keptMax: Microseconds = 7 * 24 * 3_600_000_000
  /// The oldest outcomes go when there are more, and so do dead letters. 10,000 of each.
  var keptRowsMax = 10_000
  /// How often is looked for what may go. 1 h.
  var sweepPeriod: Microseconds = 3_600_000_000
  /// What a full disk kept from being written is tried again after so long. 1 s.
  var retryPeriod: Microseconds = 1_000_000
  /// Called before each commit, on the thread that makes it: for tests, which have it take as long as a disk may.
  var onDisk: (@Sendable () -> Void)?

  var environment: EnvironmentSettings {
    let mapBytes = max(bytesMax, 1 << 20)
    return EnvironmentSettings(
      directory: directory, layout: FrozenTables.layout, isDisposable: false, isExclusive: true,
      mapBytes: mapBytes, mapBytesMin: mapBytes, databasesMax: 9, readersMax: 126)
  }
}

/// What a frozen store holds and has done.
struct FrozenStatistics: Sendable, Equatable {
  /// Requests that wait or are in flight, at the last commit.
  var records = 0
  /// Bytes of the file in use, at the last commit.
  var bytes = 0
  /// Outcomes and dead letters that were removed, since the store began, because no caller took them.
  var dropped = 0
  /// Commits since it was opened, and the changes in them.
  var commits = 0
  var changes = 0
  /// Times that the map had to grow.
  var growths = 0
}

/// Says what is to be done about a transaction that failed. Nothing of it was written.
enum FrozenTrouble: Sendable, Equatable {
  /// The file's limit is reached: a larger map, or nothing more is accepted.
  case mapFull
  /// The disk is full: to be tried again later, when there may be room.
  case diskFull
  /// The disk does not do what it is told, or a page is not what it must be. Never again: after a failed
  /// fsync(2) the kernel believes the pages are written, and the next one would succeed without them.
  case broken

  /// Beyond this a disk that says it cannot write is not full but ill. LMDB says EIO for both.
  private static let roomMin = 16 << 20

  /// `freeBytes`: what the file system has left; nil when it does not say.
  init(_ error: StoreError, freeBytes: Int?) {
    switch error.number {
    case Self.mapFullNumber: self = .mapFull
    case ENOSPC, EDQUOT, EFBIG: self = .diskFull
    case EIO where (freeBytes ?? .max) < Self.roomMin: self = .diskFull
    default: self = .broken
    }
  }

  /// MDB_MAP_FULL.
  static let mapFullNumber: Int32 = -30_792
}

// Reading: any thread, never waits for the writer.

extension FrozenStore {
  enum Endings: Sendable { case outcomes, deadLetters }

  private func table(_ endings: Endings) -> Database {
    endings == .outcomes ? core.tables.outbox : core.tables.dead
  }

  /// Rows that are read in one go: meanwhile the map cannot grow, so nothing is written that needs more of it.
  private static let rowsAtOnce = 256

  /// Goes through all requests in the order of their numbers, for as long as `visit` says so: their lane, and what
  /// the owner keeps there. Rows that became damaged since it was opened are left out. What comes and goes meanwhile
  /// may be seen or not.
  func scan(
    _ visit: (_ number: UInt64, _ lane: KeyDigest, _ payload: RawSpan) -> Bool
  ) throws(NetworkError) {
    try forEach(in: core.tables.rec) { number, value in
      guard FrozenRow.isWhole(value, number) else { return true }
      let lane = KeyDigest((value.integer(at: 16), value.integer(at: 24)))
      let payload = value.extracting(FrozenRow.headerBytes..<value.byteCount)
      return visit(number, lane, payload)
    }
  }

  /// Goes through the rows of a table in the order of their numbers, for as long as `visit` says so.
  private func forEach(
    in table: Database, from number: UInt64 = 0, _ visit: (_ number: UInt64, _ value: RawSpan) -> Bool
  ) throws(NetworkError) {
    var next: UInt64? = number
    while let first = next {
      next = try core.read { transaction throws(StoreError) -> UInt64? in
        var rest: UInt64?
        var left = Self.rowsAtOnce
        try transaction.forEach(from: RecordKey(ordered: first), in: table) { record in
          guard let number = record.number else { return true }
          if left == 0 {
            rest = number
            return false
          }
          left -= 1
          return visit(number, record.value)
        }
        return rest
      }
    }
  }

  /// The request of a number; nil when it is not there, `storeCorrupt` when its bytes are not what was written.
  func row(_ number: UInt64) throws(NetworkError) -> FrozenRow? {
    guard let bytes = try bytes(number, in: core.tables.rec) else { return nil }
    let row = FrozenRow(number, decoding: bytes.rawBytes)
    if row == nil { throw NetworkError(.storeCorrupt, reason: "record \(number)") }
    return row
  }

  /// Goes through the outcomes that no caller has taken, or the dead letters, in the order of their numbers, for
  /// as long as `visit` says so. Those whose bytes are not what was written are left out.
  func forEachEnding(
    _ kind: Endings, from number: UInt64 = 0, _ visit: (_ number: UInt64, _ ending: FrozenEnding) -> Bool
  ) throws(NetworkError) {
    try forEach(in: table(kind), from: number) { number, value in
      FrozenEnding(number, decoding: value).map { visit(number, $0) } ?? true
    }
  }

  /// All of them.
  func endings(_ kind: Endings) throws(NetworkError) -> [(number: UInt64, ending: FrozenEnding)] {
    var endings: [(number: UInt64, ending: FrozenEnding)] = []
    try forEachEnding(kind) { number, ending in
      endings.append((number, ending))
      return true
    }
    return endings
  }

  func ending(_ kind: Endings, _ number: UInt64) throws(NetworkError) -> FrozenEnding? {
    try bytes(number, in: table(kind)).flatMap { FrozenEnding(number, decoding: $0.rawBytes) }
  }

  private func bytes(_ number: UInt64, in table: Database) throws(NetworkError) -> [UInt8]? {
    try core.read { transaction throws(StoreError) -> [UInt8]? in
      guard let value = try transaction.value(at: RecordKey(ordered: number), in: table) else { return nil }
      return [UInt8](value)
    }
  }
}

extension RawSpan {
  /// A number as keys hold it.
  func bigEndian(at offset: Int) -> UInt64 { integer(at: offset, as: UInt64.self).byteSwapped }
}
