internal import Synchronization

/// Bodies with metadata under keys, in one memory-mapped file of bounded size: what is put may be gone when
/// it is looked for, but what is found is what was put.
///
/// Any thread. Changes are seen by all lookups of this process when the call returns, and are written
/// by a thread of the store, many per commit; other processes with the same directory see them then. Nothing
/// here fails for a full disk: the put is dropped and counted.
final class CacheStore: Sendable {
  let core: CacheStoreCore
  private let isOpen = Atomic(true)

  private init(_ core: CacheStoreCore) { self.core = core }

  /// Closing waits for the disk, and the last reference may go on a thread that must not wait: a loop's, or one on which
  /// closures of users run.
  deinit {
    guard Delivery.isRunning || SystemThread.isOurs else { return close() }
    guard isOpen.exchange(false, ordering: .acquiringAndReleasing) else { return }
    SystemThread.close { [core] in CacheStoreRegistry.shared.release(core) }
  }

  /// Opens a directory, or joins the store of this process that has it open.
  ///
  /// Throws `storeOpenFailed(reason)`, `storeInUse(pid)`, `storeBusy`, `storageFull`, `tooManyOpenFiles` or
  /// `engineStartFailed`. A damaged file is no error: it is moved aside (see `opening`).
  static func open(_ settings: CacheStoreSettings) throws(NetworkError) -> CacheStore {
    CacheStore(try CacheStoreRegistry.shared.core(settings))
  }

  /// What the directory held when this process opened it.
  var opening: EnvironmentOpening { core.environment.opening }

  var settings: CacheStoreSettings { core.settings }

  /// The number of the device that it lies on (`st_dev`).
  var device: UInt64 { core.environment.identity.device }

  /// Ends the use by this caller. The last one in the process writes what waits, and closes. Idempotent.
  func close() {
    if isOpen.exchange(false, ordering: .acquiringAndReleasing) { CacheStoreRegistry.shared.release(core) }
  }

  /// False once closed, and in a child of fork(2): then lookups miss and changes do nothing.
  private var isUsable: Bool { isOpen.load(ordering: .relaxed) && core.environment.isOurs }
}

// MARK: Reading

extension CacheStore {
  /// What is stored under a key. Never waits for the writer, but for the disk: not on a loop thread.
  func lookup(_ key: StoreKey) -> StoreHit? { isUsable ? core.lookup(key) : nil }

  /// What was found before, unless it is not certain to be what is stored. Never waits on one of our own threads.
  ///
  /// - Parameter answer: makes it of what is kept, or has the body read once more. Nil: it could not be.
  func lookup<Answer>(
    _ key: StoreKey, again place: StoredPlace, _ answer: (_ readBody: () -> ResponseBytes?) -> Answer?
  ) -> Answer? {
    isUsable ? core.lookup(key, again: place, answer) : nil
  }

  var statistics: CacheStatistics { isUsable ? core.statistics : CacheStatistics() }
}

// MARK: Changing

extension CacheStore {
  /// Stores a body with its metadata, in place of what is there. Never waits. False when it was dropped: too
  /// large, or too much waits already. What was there is gone then too: it is older than what was dropped.
  ///
  /// - Parameter askedAt: when the origin was asked; nothing is put when the resource has been removed since.
  @discardableResult
  func put(
    _ key: StoreKey, namespace: String, metadata: [UInt8], body: [UInt8], askedAt: Microseconds = .max
  ) -> Bool {
    put(key, namespace: namespace, metadata: metadata, body: .bytes(body), askedAt: askedAt)
  }

  /// The same for a body that may lie in a file; it is read there when its turn to be written has come.
  @discardableResult
  func put(
    _ key: StoreKey, namespace: String, metadata: [UInt8], body: PendingBody, askedAt: Microseconds
  ) -> Bool {
    isUsable && core.put(key, namespace: namespace, metadata: metadata, body: body, askedAt: askedAt)
  }

  /// Changes the metadata and leaves the body alone, if it still is the body of `StoreHit.bodyID`.
  func replaceMetadata(_ key: StoreKey, metadata: [UInt8], ifBodyIs id: UInt64) {
    if isUsable { core.replaceMetadata(key, metadata: metadata, ifBodyIs: id) }
  }

  /// When this returns, no lookup of this process finds what was there.
  func remove(_ key: StoreKey) {
    if isUsable { core.remove(key) }
  }

  /// Removes all that is stored of a resource, for any asker and in any variant; what of it is on its way is not stored.
  /// No lookup of this process finds it when this returns. True when some of it was still to be written.
  @discardableResult
  func removeResource(_ resource: UInt64) -> Bool { isUsable && core.removeResource(resource) }

  /// True if something is stored of a resource. Waits for the disk.
  func holds(_ resource: UInt64) -> Bool { isUsable && core.holds(resource) }

  /// The changes of this process so far, and whether there may have been others of a resource since.
  var mark: UInt64 { core.mark.load(ordering: .acquiring) }
  func hasChanged(_ resource: UInt64, since mark: UInt64) -> Bool {
    !isUsable || core.hasChanged(resource, since: mark)
  }

  /// Has something done that may wait for the disk. False when it will not be (`StoreLooker.run`).
  func look(bytes: Int = 0, _ job: @escaping @Sendable () -> Void) -> Bool {
    isUsable && core.looker.run(bytes: bytes, job)
  }

  /// True when a resource has been changed since a moment, by whatever process.
  func holdsBack(_ resource: UInt64, askedAt moment: Microseconds) -> Bool {
    isUsable && core.holdsBack(resource, askedAt: moment)
  }

  /// Calls, perhaps at once and else on the store's thread, when all changes made before are committed or dropped.
  func afterCommit(_ done: @escaping @Sendable () -> Void) {
    if isUsable { core.afterCommit(done) } else { done() }
  }

  /// The table of who asks the origin for what, among all processes; nil when that is not known.
  var claims: ClaimTable? { isUsable ? core.claims : nil }

  /// Ends a claim when all changes made before are committed or dropped: a request that waits for it finds them.
  func finish(_ claim: Claim) {
    if isUsable { core.finish(claim) } else { claim.finish() }
  }

  /// Removes what was put into a namespace before the call and is meant by a pattern (`CacheStoreSettings.match`); nil:
  /// all. No lookup of this process finds it from now on. When it returns a mark of that is committed, which other processes
  /// see, or 5 s have passed and it is written as soon as it can be; many entries are taken out afterwards. Not on the loop
  /// thread.
  func removeAll(namespace: String, matching pattern: [UInt8]? = nil) {
    if isUsable { core.removeAll(namespace: namespace, pattern: pattern) }
  }

  /// Waits until all changes made before the call are committed, or dropped, for 5 s at most; not on the loop thread.
  func flush() {
    if isUsable { core.flush() }
  }
}

extension CacheStore {
  /// Bytes that wait to be written. No caller waits for them: what is too much is dropped.
  var budget: NetworkBudget { isUsable ? core.budget : NetworkBudget() }

  /// What is on its way to be stored and lies on the disk meanwhile; as many bytes at most as may be stored.
  var spools: BudgetRoom { core.spools }
}

/// The limits of a cache store. The first to open a directory in a process sets them for all.
struct CacheStoreSettings: Sendable {
  /// A directory of its own; made with permissions 0700 when it is missing.
  var directory: String
  /// Bytes in use at most; beyond, the least recently used entries go. 1 GiB.
  var bytesMax = 1 << 30
  /// The length at most of the file with all but the long bodies: what is in use, and what other processes keep from being
  /// used again. A put that would pass it is dropped. 1.5 times `bytesMax` and 16 MiB unless set.
  var fileBytesMax: Int?
  /// A longer body is not stored. 16 MiB.
  var bodyBytesMax = 16 << 20
  /// What waits to be written at most; beyond, puts are dropped. 32 MiB.
  var pendingBytesMax = 32 << 20
  /// Bytes of entries per namespace at most; none for those that are not named.
  var quotas: [String: Int] = [:]
  /// A use is recorded when the last recorded one is longer ago. 60 s.
  var recencyStep: Microseconds = 60_000_000
  /// Recorded uses are written after so long, or when there are 1,000. 5 s.
  var recencyDelay: Microseconds = 5_000_000
  /// When given, the file's pages are dropped from this process's resident memory each time so many bytes
  /// were read or written; they stay in the system's page cache.
  var residentBytesMax: Int?

  /// Where the kernel tells how short memory is; while it is, the pages of the file are given back once a second.
  var pressurePath = MemoryPressure.path
  /// A process that has not said for longer that it is alive is dead or stopped, and its claims are void. 1 s.
  var claimSilenceMax: Microseconds = 1_000_000
  /// A request that looks for a stored answer waits for the disk so long, and goes on without it then. 1 s.
  var lookPatience: Microseconds = 1_000_000
  /// How many times longer than usual the disk and other writers may take before a request goes on without them. 1.
  var slack = 1
  /// Entries that one transaction takes out of those that were removed by a pattern. 1,000.
  var removedAtOnce = 1_000
  /// The time that another process may take to sweep out what it has removed, before this one does so. 10 s.
  var sweepPatience: Microseconds = 10_000_000
  /// What the patterns of removals mean, the same in all processes; the beginning of a full key unless set.
  var match: @Sendable (_ pattern: [UInt8]) -> KeyMatch = { pattern in { key, _ in key.begins(with: pattern) }
  }

  /// Called before each look into the file, and before a spool is written: for tests, which have it take as long as a disk
  /// may.
  var onDisk: (@Sendable () -> Void)?

  init(directory: String) { self.directory = directory }

  var fileLimit: Int { fileBytesMax ?? bytesMax + bytesMax / 2 + 16 << 20 }

  var environment: EnvironmentSettings {
    EnvironmentSettings(
      directory: directory, layout: CacheDatabases.layout, isDisposable: true,
      mapBytes: max(16 << 30, 4 * bytesMax))
  }
}

/// What a lookup found: its own for as long as it is held, whatever becomes of the store.
struct StoreHit: Sendable {
  var body: ResponseBytes
  /// What was stored beside the body.
  let metadata: [UInt8]
  /// The number of the body; no other ever has the same. For `CacheStore.replaceMetadata(_:_:ifBodyIs:)`.
  let bodyID: UInt64
  /// Nil for what is not yet written.
  var place: StoredPlace?
}
