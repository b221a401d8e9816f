internal import Synchronization

/// Lookups. They wait for the disk: not on a loop, unless it says so.
extension CacheStoreCore {
  private enum Pending {
    case nothing
    case gone
    case put(PendingPut, PendingTable.Change)
    case metadata([UInt8], bodyID: UInt64)
  }

  func lookup(_ key: StoreKey) -> StoreHit? {
    // What waits to be written comes first, and then a view: what has been written in between is seen there.
    let pending = shared.withLock { findPending(key, $0) }
    switch pending {
    case .gone: return miss()
    case .put(let put, let change):
      guard let body = put.body.readable, isValid(put, change) else { return miss() }
      counts.add(1, to: .hits)
      return StoreHit(body: body, metadata: put.metadata, bodyID: put.bodyID)
    case .nothing, .metadata: break
    }
    switch withViews({ find(key, &$0) }) ?? .nothing {
    case .nothing: return miss()
    case .damaged:
      drop(damaged: key)
      return nil
    case .entry(let entry): return entry.snapshot.read(entry) { read($0, key, pending) }
    }
  }

  private func read(_ entry: FoundEntry, _ key: StoreKey, _ pending: Pending) -> StoreHit? {
    settings.onDisk?()
    let facts = entry.facts
    let body: ResponseBytes
    if facts.isFile {
      guard let file = bodies.open(facts.bodyID, count: facts.bodyBytes) else {
        // Another process may have removed it since this view began, or there is no descriptor left.
        guard bodies.isLost(facts.bodyID, count: facts.bodyBytes), isNewest(entry.snapshot) else {
          return miss()
        }
        drop(damaged: key)
        return nil
      }
      body = ResponseBytes(file)
    } else {
      body = ResponseBytes(entry.copiedBody)
    }
    guard entry.isVerified || verify(entry, body) else {
      drop(damaged: key)
      return nil
    }
    counts.add(1, to: .hits)
    // The leaf of the entry, and the place of the body.
    mappedPages.count(facts.bodyBytes, faults: 2)
    if case .metadata(let metadata, let id) = pending, id == facts.bodyID {
      return StoreHit(body: body, metadata: metadata, bodyID: id)
    }
    return StoreHit(body: body, metadata: [UInt8](entry.metadata), bodyID: facts.bodyID, place: entry.place)
  }

  /// Compares a body that does not stand in its record with its checksum; once.
  private func verify(_ entry: FoundEntry, _ body: ResponseBytes) -> Bool {
    guard entry.facts.fileChecksum.map({ Checksum.of(body.bytes) == $0 }) ?? entry.isWhole else {
      return false
    }
    _ = withViews { $0.verified.insert(entry.facts.bodyID) }
    return true
  }

  /// Another process may have changed the resource since, and this one has not come to write so. False when the disk does not
  /// say.
  private func isValid(_ put: PendingPut, _ change: PendingTable.Change) -> Bool {
    let resource = change.key.digest.first
    if fenceWords?.holdBack(resource, askedAt: put.askedAt) == true { return false }
    if change.validAt.load(ordering: .relaxed) == environment.newestCommit { return true }
    let isHeldBack = withViews { views in
      settings.onDisk?()
      guard let snapshot = freshSnapshot(&views) else { return false }
      if snapshot.holdsBack(resource, askedAt: put.askedAt, databases) { return true }
      change.validAt.store(snapshot.commit, ordering: .relaxed)
      return false
    }
    return isHeldBack == false
  }

  private func miss() -> StoreHit? {
    counts.add(1, to: .misses)
    mappedPages.count(faults: 1)
    return nil
  }

  /// What a lookup found there, if nothing has been committed since and no change of it waits. Also on a loop: then the body
  /// is what is kept of it, or what the page cache has.
  func lookup<Answer>(
    _ key: StoreKey, again place: StoredPlace, _ answer: (_ readBody: () -> ResponseBytes?) -> Answer?
  ) -> Answer? {
    guard !isChanging(key), isNewest(place.snapshot), let answer = answer({ copy(place) }) else { return nil }
    touch(key.digest, recency: place.recency, began: place.snapshot.began)
    counts.add(1, to: .hits)
    return answer
  }

  /// A change of it waits. What waits no more is committed, which `isNewest` sees behind this.
  private func isChanging(_ key: StoreKey) -> Bool {
    isChanging.load(ordering: .acquiring)
      && shared.withLock { $0.pending[key] != nil || $0.pending.isFenced(key.digest.first) }
  }

  private func copy(_ place: StoredPlace) -> ResponseBytes? {
    guard let bytes = place.copyBody(waiting: !SystemThread.isOurs) else { return nil }
    mappedPages.count(bytes.count, faults: 1)
    return ResponseBytes(bytes)
  }

  private func findPending(_ key: StoreKey, _ shared: borrowing CacheSharedState) -> Pending {
    // What another process may have committed meanwhile is removed as well, and this one has not come to write so.
    let isFenced = shared.pending.isFenced(key.digest.first)
    guard let change = shared.pending[key], change.key.fullKey == key.fullKey || change.isRemoval else {
      return isFenced ? .gone : .nothing
    }
    return switch change.content {
    case .removed, .fence: .gone
    case .put(let put): .put(put, change)
    case .metadata(let bytes, let bodyID): isFenced ? .gone : .metadata(bytes, bodyID: bodyID)
    }
  }

  private func find(_ key: StoreKey, _ views: inout StoreViews) -> Snapshot.Found {
    settings.onDisk?()
    guard let snapshot = freshSnapshot(&views) else { return .nothing }
    let found = snapshot.find(key, databases, verified: views.verified)
    if case .entry(let entry) = found {
      touch(key.digest, recency: entry.facts.recency, began: snapshot.began)
    }
    return found
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
      shared.hasNewView = true
      return shared.removals
    }
    guard let removals, environment.isFileWhole, let snapshot = try? Snapshot(self, removals) else {
      return nil
    }
    views.current = snapshot
    return snapshot
  }

  /// True if it knows all that is removed, and all that is stored.
  private func isNewest(_ snapshot: Snapshot) -> Bool {
    snapshot.commit == environment.newestCommit
      && snapshot.removalMark == removalMark.load(ordering: .acquiring)
  }

  private func touch(_ key: KeyDigest, recency: UInt64, began: UInt64) {
    let step = everyUseCounts.load(ordering: .relaxed) ? 0 : UInt64(settings.recencyStep)
    guard recency &+ step < began else { return }
    _ = shared.send { shared in
      if shared.touched.count < CacheSharedState.touchedMax { shared.touched.insert(key) }
    }
  }

  private func drop(damaged key: StoreKey) {
    shared.withLock { $0.statistics.damaged += 1 }
    counts.add(1, to: .misses)
    remove(key)
  }
}
