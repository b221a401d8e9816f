internal import Synchronization

/// Commits changes on the thread that asks for it, and says what becomes of each when the disk refuses.
struct FrozenCommitter: ~Copyable {
  private let core: FrozenStoreCore
  private var writer: FrozenWriter

  init(_ core: FrozenStoreCore, _ meta: FrozenMeta) {
    self.core = core
    writer = FrozenWriter(
      environment: core.environment, tables: core.tables, settings: core.settings, meta: meta)
  }

  /// Writes all in one commit, and one by one where that fails. Nil for those that the disk will take once it has room.
  mutating func commit(_ changes: [FrozenChange]) -> [FrozenAnswer?] {
    if let failure = core.shared.withLock({ $0.failure }) { return changes.map { _ in .failure(failure) } }
    do throws(StoreError) {
      let answers = try writer.write(changes)
      didCommit(changes.count)
      return answers
    } catch {
      let trouble = FrozenTrouble(error, freeBytes: core.environment.freeDiskBytes)
      if trouble == .broken { return fail(changes, error) }
      if changes.count == 1 { return [meet(trouble, error, changes[0])] }
      // One that is too large must not take the others with it.
      var answers: [FrozenAnswer?] = []
      for change in changes { answers += commit([change]) }
      return answers
    }
  }

  private mutating func meet(
    _ trouble: FrozenTrouble, _ error: StoreError, _ change: FrozenChange
  ) -> FrozenAnswer? {
    if trouble == .mapFull, change.isAcceptance {
      return .failure(NetworkError(.queueFull, cause: .frozenBytes, underlying: error.underlying))
    }
    if trouble == .mapFull, core.growMap() {
      core.shared.withLock { $0.statistics.growths += 1 }
      return commit([change])[0]
    }
    guard change.mayFail else { return nil }
    let free = core.environment.freeDiskBytes.map { "\($0) bytes free" }
    return .failure(error.failure(.storageFull, reason: free))
  }

  private func didCommit(_ changes: Int) {
    let (records, bytes, dropped) = (writer.records, writer.usedBytes, writer.meta.dropped)
    core.shared.withLock { shared in
      shared.statistics.records = records
      shared.statistics.bytes = bytes
      shared.statistics.dropped = Int(clamping: dropped)
      shared.statistics.commits += 1
      shared.statistics.changes += changes
    }
  }

  private func fail(_ changes: [FrozenChange], _ error: StoreError) -> [FrozenAnswer?] {
    if error.isDamage { core.environment.directory.markSuspect() }
    let failure = error.failure(.storeFailed, reason: "commit")
    core.shared.withLock { $0.failure = failure }
    return changes.map { _ in .failure(failure) }
  }
}
