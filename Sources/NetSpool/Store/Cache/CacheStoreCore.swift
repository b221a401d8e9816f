internal import Synchronization

/// The store behind all `CacheStore`s of one directory.
final class CacheStoreCore: Sendable {
  let environment: Environment
  let settings: CacheStoreSettings
  let databases: CacheDatabases
  let bodies: BodyFiles
  let shared = Inbox(CacheSharedState())
  /// Never on a loop. Before `shared`, where both are taken.
  let views = BusyMutex(StoreViews())
  /// A lookup has waited for the views in vain, and none has had them since.
  let areViewsStuck = Atomic(false)
  /// The number of changes that this process has made; counted under `shared`.
  let mark = Atomic<UInt64>(0)
  /// Where that stood when entries were removed by what they are: older snapshots do not know.
  let removalMark = Atomic<UInt64>(0)
  /// Entries are being removed to make room, or will be soon; written under `shared`.
  let everyUseCounts = Atomic(false)
  /// Something waits to be written; written under `shared`.
  let isChanging = Atomic(false)
  enum Count: Int, CaseIterable { case hits, misses }
  let counts = SharedCounts<Count>()
  let looker: StoreLooker
  let mappedPages: MappedPages
  /// What is on its way here and lies on the disk meanwhile.
  let spools: BudgetRoom
  /// Nil where it cannot be had: then each process asks for itself.
  let claims: ClaimTable?
  /// The same: then changes by other processes are seen once the disk has them.
  let fenceWords: FenceWords?

  typealias Look = Inbox<CacheSharedState>.Look

  init(_ environment: Environment, _ settings: CacheStoreSettings) throws(NetworkError) {
    self.environment = environment
    self.settings = settings
    looker = StoreLooker(patience: settings.lookPatience)
    spools = BudgetRoom(settings.bytesMax)
    bodies = try BodyFiles(in: environment.directory)
    mappedPages = MappedPages(of: environment, limit: settings.residentBytesMax)
    claims = environment.directory.openWords(ClaimTable.kind, count: ClaimTable.wordCount).flatMap {
      ClaimTable($0, silenceMax: settings.claimSilenceMax)
    }
    fenceWords = environment.directory.openWords(FenceWords.kind, count: FenceWords.wordCount)
      .flatMap { FenceWords($0) }
    let (entries, pageBytes, fileBytes): (Int, Int, Int)
    do {
      (databases, entries, pageBytes, fileBytes) = try environment.write { transaction throws(StoreError) in
        let databases = try CacheDatabases(&transaction)
        return (
          databases, try transaction.size(of: databases.entries).records,
          try databases.pageBytes(transaction), try databases.fileBytes(transaction)
        )
      }
    } catch {
      if error.isBusy { throw NetworkError(.storeBusy, cause: .writing, underlying: error.underlying) }
      throw error.failure(error.isFull ? .storageFull : .storeOpenFailed, reason: "databases")
    }
    shared.withLock { shared in
      shared.quotas = settings.quotas
      shared.statistics.entries = entries
      shared.statistics.bytes = pageBytes + fileBytes
      shared.statistics.fileBytes = fileBytes
      // What namespaces have, the first commit tells.
      shared.bytesUntilUsesCount =
        settings.quotas.isEmpty ? settings.bytesUntilUsesCount(settings.bytesMax, shared.statistics.bytes) : 0
      noteRoom(shared)
    }
  }

  /// Another has opened the same store, and says how much namespaces may take.
  func add(quotas: [String: Int]) {
    shared.withLock { shared in
      shared.quotas.merge(quotas) { _, new in new }
      if !quotas.isEmpty { shared.bytesUntilUsesCount = 0 }
      noteRoom(shared)
    }
  }

  func start() throws(NetworkError) {
    try shared.start(InboxCrew(name: "netspool-store") { [self] in StoreThread(self).run() })
  }

  /// Writes what waits, ends the thread, and lets go of the claims.
  func stop() {
    looker.stop()  // first: it may have something to write
    shared.close()
    shared.join()
    claims?.letGo()
    fenceWords?.letGo()
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
      if holdsBack(key.digest.first, askedAt: askedAt, shared) { return nil }
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

  func remove(_ key: StoreKey) { _ = change { _ in (key, .removed, true) } }

  /// Costs what waits to be written.
  func removeResource(_ resource: UInt64) -> Bool {
    let isFound = shared.send { shared in
      let moment = MonotonicClock.now
      noteFence(resource, at: moment, &shared)
      let keys = shared.pending.keys(of: resource)
      for key in keys { shared.enqueue(.change(key.digest, sequence: shared.pending.add(key, .removed))) }
      let fence = StoreKey(anyWith: .first(of: resource))
      let sequence = shared.pending.add(fence, .fence(moment))
      shared.marks.note(resource, nextMark())
      noteRoom(shared)
      shared.enqueue(.change(fence.digest, sequence: sequence))
      return !keys.isEmpty
    }
    return isFound ?? false
  }

  func nextMark() -> UInt64 { mark.add(1, ordering: .acquiringAndReleasing).newValue }

  func hasChanged(_ resource: UInt64, since mark: UInt64) -> Bool {
    shared.withLock { $0.marks.hasChanged(resource, since: mark) }
  }

  func holdsBack(_ resource: UInt64, askedAt moment: Microseconds) -> Bool {
    shared.withLock { holdsBack(resource, askedAt: moment, $0) }
  }

  private func holdsBack(
    _ resource: UInt64, askedAt moment: Microseconds, _ shared: borrowing CacheSharedState
  ) -> Bool {
    shared.fences.holdBack(resource, askedAt: moment)
      || fenceWords?.holdBack(resource, askedAt: moment) ?? false
  }

  /// Has nothing stored or joined that was asked for before a moment; of all resources when none is named.
  func noteFence(_ resource: UInt64?, at moment: Microseconds, _ shared: inout CacheSharedState) {
    guard let resource else {
      fenceWords?.noteAll(at: moment)
      return shared.fences.addAll(at: moment)
    }
    fenceWords?.note(resource, at: moment)
    shared.fences.add(resource, at: moment)
  }

  private func change(
    _ decide: (inout CacheSharedState) -> (key: StoreKey, content: PendingTable.Content, isAccepted: Bool)?
  ) -> Bool {
    let isAccepted = shared.send { shared in
      guard let (key, content, isAccepted) = decide(&shared) else { return false }
      let sequence = shared.pending.add(key, content)
      shared.marks.note(key.digest.first, nextMark())
      noteRoom(shared)
      shared.enqueue(.change(key.digest, sequence: sequence))
      return isAccepted
    }
    return isAccepted ?? false
  }

  /// At every change of what waits, and of what the store has.
  func noteRoom(_ shared: borrowing CacheSharedState) {
    everyUseCounts.store(shared.doesEveryUseCount, ordering: .relaxed)
    isChanging.store(!shared.pending.isEmpty, ordering: .releasing)
  }

  /// True while something waits that was put before a moment, unless nothing can be written now.
  func isWriting(whatCameBefore moment: Microseconds) -> Bool {
    shared.withLock { shared in
      shared.statistics.state == .open && (shared.pending.waits.oldest ?? .max) <= moment
    }
  }

  /// Calls on the store thread once all changes made before are committed, or dropped.
  func afterCommit(_ done: @escaping @Sendable () -> Void) {
    if shared.send({ $0.enqueue(.flush(done)) }) == nil { done() }
  }

  /// Ends a claim once all changes made before are committed, or dropped; at once while nothing can be written.
  func finish(_ claim: Claim) {
    let isTaken = shared.send { shared in
      guard !shared.pending.isEmpty, shared.statistics.state == .open else { return false }
      shared.enqueue(.finish(claim))
      return true
    }
    if isTaken != true { claim.finish() }
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
    statistics.hits = counts[.hits]
    statistics.misses = counts[.misses]
    statistics.bytesMax = settings.bytesMax
    statistics.fileBytes += environment.fileBytes
    return statistics
  }

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
