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

  deinit { close() }

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

  /// Ends the use by this caller. The last one in the process writes what waits, and closes; bodies that are
  /// still lent stay readable. Idempotent.
  func close() {
    if isOpen.exchange(false, ordering: .acquiringAndReleasing) { CacheStoreRegistry.shared.release(core) }
  }

  /// False once closed, and in a child of fork(2): then lookups miss and changes do nothing.
  private var isUsable: Bool { isOpen.load(ordering: .relaxed) && core.environment.isOurs }
}

// MARK: Reading

extension CacheStore {
  /// What is stored under a key. Never waits for the writer.
  func lookup(_ key: StoreKey) -> StoreHit? {
    isUsable ? core.lookup(key) : nil
  }

  var statistics: CacheStatistics { isUsable ? core.statistics : CacheStatistics() }
}

// MARK: Changing

extension CacheStore {
  /// Stores a body with its metadata, in place of what is there. Never waits. False when it was dropped: too
  /// large, or too much waits already. What was there is gone then too: it is older than what was dropped.
  @discardableResult
  func put(_ key: StoreKey, namespace: String, metadata: [UInt8], body: [UInt8]) -> Bool {
    isUsable && core.put(key, namespace: namespace, metadata: metadata, body: body)
  }

  /// Changes the metadata and leaves the body alone, if it still is the body of `StoreHit.bodyID`.
  func replaceMetadata(_ key: StoreKey, metadata: [UInt8], ifBodyIs id: UInt64) {
    if isUsable { core.replaceMetadata(key, metadata: metadata, ifBodyIs: id) }
  }

  /// When this returns, no lookup of this process finds what was there.
  func remove(_ key: StoreKey) {
    if isUsable { core.remove(key) }
  }

  /// Removes what was put into a namespace before the call, whose full keys begin with `keyPrefix`. Waits
  /// until that is committed, and for other processes that write; so not on the loop thread.
  func removeAll(namespace: String, keyPrefix: [UInt8] = []) {
    let matches: KeyMatch = { $0.begins(with: keyPrefix) }
    removeAll(namespace: namespace, where: keyPrefix.isEmpty ? nil : matches)
  }

  /// The same for full keys that match; nil: all. Looks at every entry of the store.
  func removeAll(namespace: String, where matches: KeyMatch?) {
    if isUsable { core.removeAll(namespace: namespace, matches: matches) }
  }

  /// Waits until all changes made before the call are committed, or dropped; not on the loop thread.
  func flush() {
    if isUsable { core.flush() }
  }
}

// MARK: Back-pressure

extension CacheStore {
  /// Bytes that wait to be written.
  var pendingBytes: Int { isUsable ? core.pendingBytes : 0 }

  /// Calls back once, when no more than `pendingBytesMuch` waits: at once, or on the store thread, which must
  /// not be made to wait.
  func onRoom(_ callback: @escaping @Sendable () -> Void) {
    if isUsable { core.onRoom(callback) } else { callback() }
  }
}
