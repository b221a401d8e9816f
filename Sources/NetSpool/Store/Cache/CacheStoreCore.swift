internal import Synchronization

/// The store behind all `CacheStore`s of one directory.
final class CacheStoreCore: Sendable {
  let environment: Environment
  let settings: CacheStoreSettings
  let databases: CacheDatabases
  let copies: BodyCopies
  let shared = Mutex(CacheSharedState())
  /// Never on a loop. Before `shared`, where both are taken.
  let views = Mutex(StoreViews())
  /// Somebody has waited for the views in vain, and nobody has had them since.
  let areViewsStuck = Atomic(false)
  /// How many changes this process has made; counted under `shared`.
  let mark = Atomic<UInt64>(0)
  /// Where that stood when entries were removed by what they are: older snapshots do not know.
  let removalMark = Atomic<UInt64>(0)
  private let hits = Atomic(0)
  private let misses = Atomic(0)
  let looker = StoreLooker()
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
    looker.stop()  // first: it may have something to write
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

/// Not on a loop.
extension CacheStoreCore {
  private enum Pending {
    case nothing
    case gone
    case put(PendingPut)
    case metadata([UInt8], bodyID: UInt64)
  }

  private enum Outcome {
    case miss, damaged
    case stored(FoundEntry)
  }

  func lookup(_ key: StoreKey) -> StoreHit? {
    // What waits to be written comes first, and then a view: what has been written in between is seen there.
    let pending = shared.withLock { findPending(key, $0) }
    switch pending {
    case .gone: return miss()
    case .put(let put):
      guard put.body.isReadable, isValid(put, key) else { return miss() }
      hits.add(1, ordering: .relaxed)
      return StoreHit(body: LeasedBytes(metadata: put.metadata, body: put.body), bodyID: put.bodyID)
    case .nothing, .metadata: break
    }
    switch withViews({ find(key, &$0) }) ?? .miss {
    case .miss: return miss()
    case .damaged:
      drop(damaged: key)
      return nil
    case .stored(let entry):
      hits.add(1, ordering: .relaxed)
      let lease = LeasedBytes(entry.lease, count: entry.facts.bodyBytes)
      guard entry.isVerified || verify(entry) else {
        hits.subtract(1, ordering: .relaxed)
        drop(damaged: key)
        return nil
      }
      // The leaf of the entry. The body counts when it is read.
      mappedPages.count(faults: 1)
      var newMetadata: [UInt8]?
      if case .metadata(let bytes, let id) = pending, id == entry.facts.bodyID { newMetadata = bytes }
      return StoreHit(
        body: lease, bodyID: entry.facts.bodyID, newMetadata: newMetadata,
        place: newMetadata == nil ? entry.place : nil)
    }
  }

  /// Another process may have changed the resource since, and this one has not come to write so. False when the disk does not
  /// say.
  private func isValid(_ put: PendingPut, _ key: StoreKey) -> Bool {
    if put.validAt == environment.newestCommit { return true }
    let isHeldBack = withViews { views in
      settings.onDisk?()
      guard let snapshot = freshSnapshot(&views) else { return false }
      if snapshot.holdsBack(key.digest.first, askedAt: put.askedAt, databases) { return true }
      shared.withLock { $0.pending.noteValid(key, put, at: snapshot.commit) }
      return false
    }
    return isHeldBack == false
  }

  private func miss() -> StoreHit? {
    misses.add(1, ordering: .relaxed)
    mappedPages.count(faults: 1)
    return nil
  }

  /// The body that a lookup found there, if nothing has been committed since and no change of it waits. Nil says nothing, and
  /// counts for nothing. Reads no page of the file but the one that says which commit is the newest: also on a loop.
  func lookup(_ key: StoreKey, again place: StoredPlace) -> LeasedBytes? {
    let isChanging = shared.withLock { shared in
      shared.pending[key] != nil || shared.pending.isFenced(key.digest.first)
    }
    if isChanging { return nil }
    let found: Lease?? = views.withLockIfAvailable { views in
      views.isCurrentUsed = true
      guard let snapshot = views.current, isNewest(snapshot), views.retired.count < settings.snapshotsMax, let lease = snapshot.find(again: place, verified: views.verified)
      else { return nil }
      touch(place, views)
      return lease
    }
    guard case let found?? = found else { return nil }
    hits.add(1, ordering: .relaxed)
    mappedPages.count(faults: 1)
    return LeasedBytes(found, count: place.facts.bodyBytes)
  }

  private func verify(_ entry: FoundEntry) -> Bool {
    guard entry.lease.snapshot.verify(entry) else { return false }
    _ = withViews { $0.verified.insert(entry.facts.bodyID) }
    return true
  }

  private func findPending(_ key: StoreKey, _ shared: borrowing CacheSharedState) -> Pending {
    // What another process may have committed meanwhile is removed as well, and this one has not come to write so.
    let isFenced = shared.pending.isFenced(key.digest.first)
    guard let change = shared.pending[key], change.key.fullKey == key.fullKey || change.isRemoval else {
      return isFenced ? .gone : .nothing
    }
    return switch change.content {
    case .removed, .fence: .gone
    case .put(let put): .put(put)
    case .metadata(let bytes, let bodyID): isFenced ? .gone : .metadata(bytes, bodyID: bodyID)
    }
  }

  private func find(_ key: StoreKey, _ views: inout StoreViews) -> Outcome {
    settings.onDisk?()
    while let snapshot = freshSnapshot(&views) {
      let copying = views.retired.count >= settings.snapshotsMax
      switch snapshot.find(key, databases, verified: views.verified, copying: copying) {
      case .ended: views.current = nil
      case .nothing: return .miss
      case .damaged: return .damaged
      case .entry(let entry):
        touch(entry.place, views)
        return .stored(entry)
      }
    }
    return .miss
  }

  /// Whether something is stored of a resource. True when the disk does not say.
  func holds(_ resource: UInt64) -> Bool {
    withViews { views in
      settings.onDisk?()
      return freshSnapshot(&views).map { !$0.digests(of: resource, databases).isEmpty } ?? false
    } ?? true
  }

  /// The current snapshot if no commit came after it, else a new one. Nil when none can be had.
  private func freshSnapshot(_ views: inout StoreViews) -> Snapshot? {
    views.isCurrentUsed = true
    if let current = views.current {
      if isNewest(current) { return current }
      views.retireCurrent()
    }
    // The store thread watches over its age. What is not among the removals any more, the disk knows by now.
    let (removals, isEvicting, mustWake) = shared.withLock { ($0.removals, $0.isEvicting, $0.noteViews()) }
    if mustWake { wakeUp.signal() }
    guard environment.isFileWhole, let snapshot = try? Snapshot(self, removals) else { return nil }
    views.touchBefore = UInt64(max(WallClock.microseconds - (isEvicting ? 0 : settings.recencyStep), 0))
    views.current = snapshot
    return snapshot
  }

  /// Whether it knows all that is removed, and all that is stored.
  private func isNewest(_ snapshot: Snapshot) -> Bool {
    snapshot.commit == environment.newestCommit
      && snapshot.removalMark == removalMark.load(ordering: .acquiring)
  }

  private func touch(_ place: StoredPlace, _ views: borrowing StoreViews) {
    guard place.facts.recency < views.touchBefore else { return }
    let mustWake = shared.withLock { shared in
      guard shared.touched.count < CacheSharedState.touchedMax else { return false }
      shared.touched.insert(place.digest)
      return shared.touched.count == CacheSharedState.touchedMax && shared.wake()
    }
    if mustWake { wakeUp.signal() }
  }

  private func drop(damaged key: StoreKey) {
    shared.withLock { $0.statistics.damaged += 1 }
    misses.add(1, ordering: .relaxed)
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

  /// Removes all that is stored of a resource, and has nothing stored of it that was asked for before. True when some of it
  /// was still to be written. Costs what waits to be written.
  func removeResource(_ resource: UInt64) -> Bool {
    let (isFound, mustWake) = shared.withLock { shared in
      let moment = MonotonicClock.now
      shared.fences.add(resource, at: moment)
      let keys = shared.pending.keys(of: resource)
      for key in keys { _ = shared.enqueue(.change(key.digest, sequence: shared.pending.add(key, .removed))) }
      let fence = StoreKey(anyWith: .first(of: resource))
      let sequence = shared.pending.add(fence, .fence(moment))
      shared.marks.note(resource, nextMark())
      return (!keys.isEmpty, shared.enqueue(.change(fence.digest, sequence: sequence)))
    }
    if mustWake { wakeUp.signal() }
    return isFound
  }

  func nextMark() -> UInt64 { mark.add(1, ordering: .acquiringAndReleasing).newValue }

  /// Whether this process has changed something of a resource since, or perhaps of another.
  func hasChanged(_ resource: UInt64, since mark: UInt64) -> Bool {
    shared.withLock { $0.marks.hasChanged(resource, since: mark) }
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
      shared.marks.note(key.digest.first, nextMark())
      return (isAccepted, shared.enqueue(.change(key.digest, sequence: sequence)))
    }
    if mustWake { wakeUp.signal() }
    return isAccepted
  }

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
}

// MARK: Facts

extension CacheStoreCore {
  var statistics: CacheStatistics {
    var statistics = shared.withLock { shared in
      var statistics = shared.statistics
      statistics.pendingBytes = shared.pending.bytes
      return statistics
    }
    statistics.hits = hits.load(ordering: .relaxed)
    statistics.misses = misses.load(ordering: .relaxed)
    statistics.bytesMax = settings.bytesMax
    statistics.fileBytes = environment.fileBytes
    statistics.copiedBytes = copies.bytes
    let views = withViews { views in
      views.forgetEnded()
      let snapshots = views.retired + (views.current.map { [$0] } ?? [])
      return (snapshots.count, snapshots.reduce(0) { $0 + $1.leases })
    }
    if let views { (statistics.snapshots, statistics.leases) = views }
    return statistics
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
