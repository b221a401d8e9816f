internal import Synchronization

/// The store behind all `CacheStore`s of one directory.
final class CacheStoreCore: Sendable {
  let environment: Environment
  let settings: CacheStoreSettings
  let databases: CacheDatabases
  let book: LeaseBook
  let shelf = Mutex(Shelf())
  let wakeUp = SystemSemaphore()
  let residence: Residence
  private let thread = Mutex<SystemThread?>(nil)

  init(_ environment: Environment, _ settings: CacheStoreSettings) throws(NetworkError) {
    self.environment = environment
    self.settings = settings
    book = LeaseBook(pinnedMax: settings.pinnedMax)
    residence = Residence(of: environment, limit: settings.residentBytesMax)
    let size: DatabaseSize
    do {
      (databases, size) = try environment.write { transaction throws(StoreError) in
        let databases = try CacheDatabases(&transaction)
        return (databases, try databases.size(transaction))
      }
    } catch {
      throw error.failure(error.isFull ? .storageFull : .storeOpenFailed, reason: "databases")
    }
    shelf.withLock { shelf in
      shelf.statistics.entries = size.records
      shelf.statistics.bytes = size.pages * environment.pageBytes
    }
  }

  func start() throws(NetworkError) {
    do {
      let started = try SystemThread.start(name: "netspool-store") { [self] in StoreThread(self).run() }
      thread.withLock { $0 = started }
    } catch {
      throw NetworkError(.engineStartFailed, reason: "threads", underlying: .errno(error.errno))
    }
  }

  /// Writes what waits, copies out what is lent, and ends the thread.
  func stop() {
    if shelf.withLock({ shelf in
      shelf.isClosing = true
      return shelf.wake()
    }) {
      wakeUp.signal()
    }
    let ending = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    ending?.join()
  }
}

// MARK: Lookup

extension CacheStoreCore {
  private enum Outcome {
    case miss, damaged
    case pending(PendingPut)
    case stored(FoundEntry, newMetadata: [UInt8]?)
  }

  func lookup(_ key: StoreKey) -> StoreHit? {
    // Only what needs the lock is done under it.
    switch shelf.withLock({ find(key, &$0) }) {
    case .miss:
      residence.count(faults: 1)
      return nil
    case .damaged:
      drop(damaged: key)
      return nil
    case .pending(let put):
      return StoreHit(body: LeasedBytes(metadata: put.metadata, body: put.body), bodyID: put.bodyID)
    case .stored(let entry, let newMetadata):
      let lease = LeasedBytes(entry.lease, count: entry.facts.bodyBytes)
      guard entry.isVerified || verify(entry) else {
        drop(damaged: key, hits: 1)
        return nil
      }
      // The leaf of the entry. The body counts when it is read.
      residence.count(faults: 1)
      return StoreHit(body: lease, bodyID: entry.facts.bodyID, newMetadata: newMetadata)
    }
  }

  private func verify(_ entry: FoundEntry) -> Bool {
    guard entry.lease.snapshot.verify(entry) else { return false }
    shelf.withLock { $0.verified.insert(entry.facts.bodyID) }
    return true
  }

  private func find(_ key: StoreKey, _ shelf: inout Shelf) -> Outcome {
    guard let change = shelf.pending[key], change.key.fullKey == key.fullKey else {
      return findStored(key, nil, &shelf)
    }
    switch change.content {
    case .removed:
      shelf.statistics.misses += 1
      return .miss
    case .put(let put):
      shelf.statistics.hits += 1
      return .pending(put)
    case .metadata(let bytes, let bodyID): return findStored(key, (bytes, bodyID), &shelf)
    }
  }

  private func findStored(
    _ key: StoreKey, _ newMetadata: (bytes: [UInt8], bodyID: UInt64)?, _ shelf: inout Shelf
  ) -> Outcome {
    while let snapshot = freshSnapshot(&shelf) {
      let copying = shelf.retired.count >= settings.snapshotsMax
      switch snapshot.find(key, databases, verified: shelf.verified, copying: copying) {
      case .ended: shelf.current = nil
      case .nothing:
        shelf.statistics.misses += 1
        return .miss
      case .damaged: return .damaged
      case .entry(let entry):
        shelf.statistics.hits += 1
        touch(entry, &shelf)
        let isSame = newMetadata?.bodyID == entry.facts.bodyID
        return .stored(entry, newMetadata: isSame ? newMetadata?.bytes : nil)
      }
    }
    shelf.statistics.misses += 1
    return .miss
  }

  /// The current snapshot if no commit came after it, else a new one. Nil when none can be had.
  private func freshSnapshot(_ shelf: inout Shelf) -> Snapshot? {
    shelf.isCurrentUsed = true
    if let current = shelf.current {
      if current.commit == environment.newestCommit { return current }
      shelf.retireCurrent()
    }
    guard environment.isFileWhole, let snapshot = try? Snapshot(environment, residence, book) else {
      return nil
    }
    let wall = WallClock.microseconds
    shelf.touchBefore = UInt64(max(wall - settings.recencyStep, 0))
    shelf.current = snapshot
    // The store thread watches over its age.
    if shelf.wake() { wakeUp.signal() }
    return snapshot
  }

  private func touch(_ entry: FoundEntry, _ shelf: inout Shelf) {
    guard entry.facts.recency < shelf.touchBefore, shelf.touched.count < Shelf.touchedMax else { return }
    shelf.touched.append(entry.digest)
    if shelf.touched.count == Shelf.touchedMax && shelf.wake() { wakeUp.signal() }
  }

  /// `hits`: how often it has been counted as one.
  private func drop(damaged key: StoreKey, hits: Int = 0) {
    shelf.withLock { shelf in
      shelf.statistics.damaged += 1
      shelf.statistics.hits -= hits
      shelf.statistics.misses += 1
    }
    remove(key)
  }
}

// MARK: Changes

extension CacheStoreCore {
  func put(_ key: StoreKey, namespace: String, metadata: [UInt8], body: [UInt8]) -> Bool {
    let isTooLarge =
      body.count > settings.bodyBytesMax || key.fullKey.count > StoreKey.bytesMax
      || metadata.count > settings.bodyBytesMax || namespace.utf8.count > 256
    return change { shelf in
      if isTooLarge || shelf.pending.bytes + body.count > settings.pendingBytesMax {
        shelf.statistics.dropped += 1
        return (key, .removed, false)
      }
      let put = PendingPut(namespace: namespace, metadata: metadata, body: body, bodyID: shelf.takeBodyID())
      return (key, .put(put), true)
    }
  }

  func replaceMetadata(_ key: StoreKey, metadata: [UInt8], ifBodyIs id: UInt64) {
    guard metadata.count <= settings.bodyBytesMax else { return }
    _ = change { shelf in
      guard let before = shelf.pending[key] else { return (key, .metadata(metadata, bodyID: id), true) }
      switch before.content {
      case .put(var put) where put.bodyID == id:
        put.metadata = metadata
        return (key, .put(put), true)
      case .metadata(_, let bodyID) where bodyID == id:
        return (key, .metadata(metadata, bodyID: id), true)
      default: return nil
      }
    }
  }

  func remove(_ key: StoreKey) {
    _ = change { _ in (key, .removed, true) }
  }

  private func change(
    _ decide: (inout Shelf) -> (key: StoreKey, content: PendingTable.Content, isAccepted: Bool)?
  ) -> Bool {
    let (isAccepted, mustWake) = shelf.withLock { shelf in
      guard let (key, content, isAccepted) = decide(&shelf) else { return (false, false) }
      let sequence = shelf.pending.add(key, content)
      return (isAccepted, shelf.enqueue(.change(key.digest, sequence: sequence)))
    }
    if mustWake { wakeUp.signal() }
    return isAccepted
  }

  func removeAll(namespace: String, matches: KeyMatch?) {
    enqueueAndWait { .removeAll(namespace: namespace, matches: matches, $0) }
  }

  func flush() { enqueueAndWait { .flush($0) } }

  private func enqueueAndWait(_ work: (Waiter) -> Shelf.Work) {
    let waiter = Waiter()
    let mustWake = shelf.withLock { $0.enqueue(work(waiter)) }
    if mustWake { wakeUp.signal() }
    waiter.wait()
  }
}

// MARK: Facts

extension CacheStoreCore {
  var statistics: CacheStatistics {
    shelf.withLock { shelf in
      var statistics = shelf.statistics
      statistics.bytesMax = settings.bytesMax
      statistics.fileBytes = environment.fileBytes
      statistics.pendingBytes = shelf.pending.bytes
      shelf.forgetEnded()
      let snapshots = shelf.retired + (shelf.current.map { [$0] } ?? [])
      statistics.snapshots = snapshots.count
      statistics.leases = snapshots.reduce(0) { $0 + $1.leases }
      return statistics
    }
  }

  var pendingBytes: Int { shelf.withLock { $0.pending.bytes } }

  func onRoom(_ callback: @escaping @Sendable () -> Void) {
    let hasRoom = shelf.withLock { shelf in
      if shelf.pending.bytes <= settings.pendingBytesMuch { return true }
      shelf.onRoom.append(callback)
      return false
    }
    if hasRoom { callback() }
  }
}
