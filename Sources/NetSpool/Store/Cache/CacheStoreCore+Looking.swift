internal import Synchronization

/// Lookups. They wait for the disk: not on a loop, unless it says so.
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
    if fenceWords?.holdBack(key.digest.first, askedAt: put.askedAt) == true { return false }
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
  func lookup(_ key: StoreKey, again place: StoredPosition) -> LeasedBytes? {
    let isChanging = shared.withLock { shared in
      shared.pending[key] != nil || shared.pending.isFenced(key.digest.first)
    }
    if isChanging { return nil }
    let found: Lease?? = views.withLockIfAvailable { views in
      views.isCurrentUsed = true
      guard let snapshot = views.current, isNewest(snapshot), views.retired.count < settings.snapshotsMax,
        let lease = snapshot.find(again: place, verified: views.verified)
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

  /// True if something is stored of a resource, and when the disk does not say.
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
    let removals = shared.send { shared in
      shared.haveViewsChanged = true
      return shared.removals
    }
    guard let removals, environment.isFileWhole, let snapshot = try? Snapshot(self, removals) else {
      return nil
    }
    views.began = UInt64(max(WallClock.microseconds, 0))
    views.current = snapshot
    return snapshot
  }

  /// True if it knows all that is removed, and all that is stored.
  private func isNewest(_ snapshot: Snapshot) -> Bool {
    snapshot.commit == environment.newestCommit
      && snapshot.removalMark == removalMark.load(ordering: .acquiring)
  }

  private func touch(_ place: StoredPosition, _ views: borrowing StoreViews) {
    let step = everyUseCounts.load(ordering: .relaxed) ? 0 : UInt64(settings.recencyStep)
    guard place.facts.recency &+ step < views.began else { return }
    _ = shared.send { shared in
      if shared.touched.count < CacheSharedState.touchedMax { shared.touched.insert(place.digest) }
    }
  }

  private func drop(damaged key: StoreKey) {
    shared.withLock { $0.statistics.damaged += 1 }
    misses.add(1, ordering: .relaxed)
    remove(key)
  }
}
