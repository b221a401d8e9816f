internal import Synchronization

/// The store behind all `CacheStore`s of one directory.
final class CacheStoreCore: Sendable {
  let environment: Environment
  let settings: CacheStoreSettings
  let databases: CacheDatabases
  let copies: BodyCopies
  let shared = Mutex(CacheSharedState())
  let wakeUp = SystemSemaphore()
  let mappedPages: MappedPages
  /// What is on its way here and lies on the disk meanwhile.
  let spools: SpoolRoom
  /// Nil where it cannot be had: then each process asks for itself.
  let claims: ClaimTable?
  private let thread = Mutex<SystemThread?>(nil)

  init(_ environment: Environment, _ settings: CacheStoreSettings) throws(NetworkError) {
    self.environment = environment
    self.settings = settings
    spools = SpoolRoom(bytesMax: settings.bytesMax)
    copies = BodyCopies(bytesMax: settings.copiedBytesMax)
    mappedPages = MappedPages(of: environment, limit: settings.residentBytesMax)
    claims = environment.directory.openWords(ClaimTable.kind, count: ClaimTable.wordCount).flatMap {
      ClaimTable($0, silenceMax: settings.claimSilenceMax)
    }
    let size: DatabaseSize
    do {
      (databases, size) = try environment.write { transaction throws(StoreError) in
        let databases = try CacheDatabases(&transaction)
        return (databases, try databases.size(transaction))
      }
    } catch {
      if error.isBusy { throw NetworkError(.storeBusy, reason: "writing", underlying: error.underlying) }
      throw error.failure(error.isFull ? .storageFull : .storeOpenFailed, reason: "databases")
    }
    shared.withLock { shared in
      shared.quotas = settings.quotas
      shared.statistics.entries = size.records
      shared.statistics.bytes = size.pages * environment.pageBytes
    }
  }

  /// Another has opened the same store, and says how much namespaces may take.
  func add(quotas: [String: Int]) {
    shared.withLock { $0.quotas.merge(quotas) { _, new in new } }
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
    if shared.withLock({ shared in
      shared.isClosing = true
      return shared.wake()
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
    switch shared.withLock({ find(key, &$0) }) {
    case .miss:
      mappedPages.count(faults: 1)
      return nil
    case .damaged:
      drop(damaged: key)
      return nil
    case .pending(let put):
      guard put.body.isReadable else { return nil }
      return StoreHit(body: LeasedBytes(metadata: put.metadata, body: put.body), bodyID: put.bodyID)
    case .stored(let entry, let newMetadata):
      let lease = LeasedBytes(entry.lease, count: entry.facts.bodyBytes)
      guard entry.isVerified || verify(entry) else {
        drop(damaged: key, hits: 1)
        return nil
      }
      // The leaf of the entry. The body counts when it is read.
      mappedPages.count(faults: 1)
      return StoreHit(
        body: lease, bodyID: entry.facts.bodyID, newMetadata: newMetadata,
        place: newMetadata == nil ? entry.place : nil)
    }
  }

  /// The body that a lookup found there, if nothing has been committed since and no change of it waits. Nil says nothing, and counts
  /// for nothing.
  func lookup(_ key: StoreKey, again place: StoredPlace) -> LeasedBytes? {
    let found: Lease? = shared.withLock { shared in
      guard shared.pending[key] == nil, !shared.pending.isFenced(key.digest.first),
        let snapshot = freshSnapshot(&shared)
      else { return nil }
      let copying = shared.retired.count >= settings.snapshotsMax
      guard let lease = snapshot.find(again: place, verified: shared.verified, copying: copying) else {
        return nil
      }
      shared.statistics.hits += 1
      touch(place, &shared)
      return lease
    }
    guard let found else { return nil }
    mappedPages.count(faults: 1)
    return LeasedBytes(found, count: place.facts.bodyBytes)
  }

  func isMissing(_ key: StoreKey, since commit: UInt64) -> Bool {
    shared.withLock { shared in
      guard shared.pending[key] == nil, environment.newestCommit == commit else { return false }
      shared.statistics.misses += 1
      return true
    }
  }

  private func verify(_ entry: FoundEntry) -> Bool {
    guard entry.lease.snapshot.verify(entry) else { return false }
    shared.withLock { $0.verified.insert(entry.facts.bodyID) }
    return true
  }

  private func find(_ key: StoreKey, _ shared: inout CacheSharedState) -> Outcome {
    guard let change = shared.pending[key], change.key.fullKey == key.fullKey || change.isRemoval else {
      return findStored(key, nil, &shared)
    }
    switch change.content {
    case .removed, .fence:
      shared.statistics.misses += 1
      return .miss
    case .put(let put):
      shared.statistics.hits += 1
      return .pending(put)
    case .metadata(let bytes, let bodyID): return findStored(key, (bytes, bodyID), &shared)
    }
  }

  private func findStored(
    _ key: StoreKey, _ newMetadata: (bytes: [UInt8], bodyID: UInt64)?, _ shared: inout CacheSharedState
  ) -> Outcome {
    // Another process may have committed meanwhile what this one has removed, and has not come to write so.
    if shared.pending.isFenced(key.digest.first) {
      shared.statistics.misses += 1
      return .miss
    }
    while let snapshot = freshSnapshot(&shared) {
      let copying = shared.retired.count >= settings.snapshotsMax
      switch snapshot.find(key, databases, verified: shared.verified, copying: copying) {
      case .ended: shared.current = nil
      case .nothing:
        shared.statistics.misses += 1
        return .miss
      case .damaged: return .damaged
      case .entry(let entry):
        shared.statistics.hits += 1
        touch(entry.place, &shared)
        let isSame = newMetadata?.bodyID == entry.facts.bodyID
        return .stored(entry, newMetadata: isSame ? newMetadata?.bytes : nil)
      }
    }
    shared.statistics.misses += 1
    return .miss
  }

  /// The current snapshot if no commit came after it, else a new one. Nil when none can be had.
  private func freshSnapshot(_ shared: inout CacheSharedState) -> Snapshot? {
    shared.isCurrentUsed = true
    if let current = shared.current {
      if current.commit == environment.newestCommit { return current }
      shared.retireCurrent()
    }
    guard environment.isFileWhole, let snapshot = try? Snapshot(self) else { return nil }
    let wall = WallClock.microseconds
    shared.touchBefore = UInt64(max(wall - (shared.isEvicting ? 0 : settings.recencyStep), 0))
    shared.current = snapshot
    // The store thread watches over its age.
    if shared.wake() { wakeUp.signal() }
    return snapshot
  }

  private func touch(_ place: StoredPlace, _ shared: inout CacheSharedState) {
    guard place.facts.recency < shared.touchBefore, shared.touched.count < CacheSharedState.touchedMax else {
      return
    }
    shared.touched.insert(place.digest)
    if shared.touched.count == CacheSharedState.touchedMax && shared.wake() { wakeUp.signal() }
  }

  /// `hits`: how often it has been counted as one.
  private func drop(damaged key: StoreKey, hits: Int = 0) {
    shared.withLock { shared in
      shared.statistics.damaged += 1
      shared.statistics.hits -= hits
      shared.statistics.misses += 1
    }
    remove(key)
  }
}

// MARK: Changes

extension CacheStoreCore {
  func put(
    _ key: StoreKey, namespace: String, metadata: [UInt8], body: PendingBody, askedAt: Microseconds = .max
  ) -> Bool {
    let isTooLarge =
      body.count > settings.bodyBytesMax || key.fullKey.count > StoreKey.bytesMax
      || metadata.count > settings.bodyBytesMax || namespace.utf8.count > 256
    return change { shared in
      if shared.fences.holdBack(key.digest.first, askedAt: askedAt) { return nil }
      if isTooLarge || shared.pending.bytes + body.bytesInMemory > settings.pendingBytesMax {
        shared.statistics.dropped += 1
        return (key, .removed, false)
      }
      let put = PendingPut(
        namespace: namespace, metadata: metadata, body: body, bodyID: shared.takeBodyID(),
        askedAt: askedAt)
      return (key, .put(put), true)
    }
  }

  func replaceMetadata(_ key: StoreKey, metadata: [UInt8], ifBodyIs id: UInt64) {
    guard metadata.count <= settings.bodyBytesMax else { return }
    _ = change { shared in
      guard let before = shared.pending[key] else { return (key, .metadata(metadata, bodyID: id), true) }
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

  /// Removes all that is stored of a resource, and has nothing stored of it that was asked for before. True when there
  /// was something. Costs what is stored of it, and what waits to be written.
  func removeResource(_ resource: UInt64) -> Bool {
    let (isFound, mustWake) = shared.withLock { shared in
      let moment = MonotonicClock.now
      shared.fences.add(resource, at: moment)
      var keys = shared.pending.keys(of: resource)
      if let snapshot = freshSnapshot(&shared) {
        keys += snapshot.digests(of: resource, databases).map { StoreKey(anyWith: $0) }
      }
      for key in keys { _ = shared.enqueue(.change(key.digest, sequence: shared.pending.add(key, .removed))) }
      let fence = StoreKey(anyWith: .first(of: resource))
      let sequence = shared.pending.add(fence, .fence(moment))
      return (!keys.isEmpty, shared.enqueue(.change(fence.digest, sequence: sequence)))
    }
    if mustWake { wakeUp.signal() }
    return isFound
  }

  /// Whether what was asked for at a moment is older than the last change of a resource in this process.
  func holdsBack(_ resource: UInt64, askedAt moment: Microseconds) -> Bool {
    shared.withLock { $0.fences.holdBack(resource, askedAt: moment) }
  }

  private func change(
    _ decide: (inout CacheSharedState) -> (key: StoreKey, content: PendingTable.Content, isAccepted: Bool)?
  ) -> Bool {
    let (isAccepted, mustWake) = shared.withLock { shared in
      guard let (key, content, isAccepted) = decide(&shared) else { return (false, false) }
      let sequence = shared.pending.add(key, content)
      return (isAccepted, shared.enqueue(.change(key.digest, sequence: sequence)))
    }
    if mustWake { wakeUp.signal() }
    return isAccepted
  }

  func removeAll(namespace: String, pattern: [UInt8]?) {
    shared.withLock { $0.fences.addAll(at: MonotonicClock.now) }
    enqueueAndWait { .removeAll(namespace: namespace, pattern: pattern, $0) }
  }

  func flush() { enqueueAndWait { waiter in .flush { waiter.signal() } } }

  /// Calls on the store thread once all changes made before are committed, or dropped.
  func afterCommit(_ done: @escaping @Sendable () -> Void) {
    if shared.withLock({ $0.enqueue(.flush(done)) }) { wakeUp.signal() }
  }

  /// Ends a claim once all changes made before are committed, or dropped; at once while nothing can be written.
  func finish(_ claim: Claim) {
    let mustWake = shared.withLock { shared -> Bool? in
      shared.pending.isEmpty || shared.statistics.state != .open ? nil : shared.enqueue(.finish(claim))
    }
    guard let mustWake else { return claim.finish() }
    if mustWake { wakeUp.signal() }
  }

  private func enqueueAndWait(_ work: (Waiter) -> CacheSharedState.Work) {
    let waiter = Waiter()
    let mustWake = shared.withLock { $0.enqueue(work(waiter)) }
    if mustWake { wakeUp.signal() }
    waiter.wait()
  }
}

// MARK: Facts

extension CacheStoreCore {
  var statistics: CacheStatistics {
    shared.withLock { shared in
      var statistics = shared.statistics
      statistics.bytesMax = settings.bytesMax
      statistics.fileBytes = environment.fileBytes
      statistics.pendingBytes = shared.pending.bytes
      statistics.copiedBytes = copies.bytes
      shared.forgetEnded()
      let snapshots = shared.retired + (shared.current.map { [$0] } ?? [])
      statistics.snapshots = snapshots.count
      statistics.leases = snapshots.reduce(0) { $0 + $1.leases }
      return statistics
    }
  }

  var pendingBytes: Int { shared.withLock { $0.pending.bytes } }

  var budget: NetworkBudget {
    shared.withLock { shared in
      let current = shared.pending.waits.oldest.map { MonotonicClock.now - $0 } ?? 0
      return NetworkBudget(
        held: shared.pending.bytes, heldMax: settings.pendingBytesMax, waiting: shared.pending.waits.count,
        refused: shared.statistics.dropped,
        longestWait: .microseconds(max(shared.pending.longestWait, current)))
    }
  }
}
