internal import Synchronization

/// Where the disk or the file has no room, old entries go: removing them writes pages first, of which there may be few.
extension StoreThread {
  /// How often room is looked for in a row, and of how many entries a quarter is tried when so many were too many.
  private static let roomRounds = 32
  private static let entriesAtOnce = 64
  /// How many pages removing an entry writes: in the trees of entries, bodies and recency, and their branches.
  private static let pagesOfRemoval = 8

  /// Removes what was used least recently.
  /// - apart: what is free is so in small pieces.
  mutating func makeRoom(for batch: [PendingTable.Change], apart: Bool = false) throws(StoreError) {
    if !apart && fits(batch) && core.environment.reserveSpare() == 0 { return }
    guard MonotonicClock.now >= roomlessUntil else { return }
    let needed = bytesNeeded(batch)
    guard mayFit(needed.files) else { return }
    // Small entries lie in a page each with others, so many go before a page is free.
    var bytes = 3 * (needed.trees + needed.files)
    var entries = CacheWriter.evictionsMax
    for _ in 0..<Self.roomRounds {
      do throws(StoreError) {
        let atOnce = min(entries, removableAtOnce)
        let report = try writer.makeRoom(bytes, entriesMax: atOnce)
        didCommit([], report)
        if fits(batch) { return }
        if report.evictions == 0 { break }
        if report.evictions >= atOnce { entries *= 2 } else { bytes *= 2 }
      } catch  where error.isFull && entries > 1 {
        entries = min(entries, Self.entriesAtOnce) / 4
      }
    }
    roomlessUntil = MonotonicClock.now + Self.fullPeriod
  }

  /// Removing writes pages first, and there may be few.
  private var removableAtOnce: Int {
    let environment = core.environment
    let free = (try? environment.freePages(before: usableCommit)) ?? 0
    return max(1, (environment.roomBytes / environment.pageBytes + free) / Self.pagesOfRemoval)
  }

  /// What older commits than this freed may be used again, but for what the newest transaction freed (mdb.c,
  /// mdb_find_oldest).
  private var usableCommit: UInt64 { core.environment.newestCommit }

  /// Of the trees; `files`: of the long bodies that are not on the disk yet.
  private func bytesNeeded(_ batch: [PendingTable.Change]) -> (trees: Int, files: Int) {
    batch.reduce(into: (0, 0)) { needed, change in
      let (bytes, fileBytes) = (change.bytes, change.fileBytes)
      needed.0 += bytes - fileBytes + 2 * core.environment.pageBytes
      needed.1 += min(fileBytes, change.bytesInMemory)
    }
  }

  /// The longest that the trees may become.
  private var lengthMax: Int { min(core.settings.fileLimit, Environment.fileBytesMax) }

  /// The disk could take long bodies of so many bytes if all that there are went.
  private func mayFit(_ files: Int) -> Bool {
    guard files > 0, let free = core.environment.freeDiskBytes else { return true }
    return files <= free + core.shared.withLock { $0.statistics.fileBytes }
  }

  /// Room for all of it would cost most entries that there are, and might not be had even then.
  func isTooMuchAtOnce(_ batch: [PendingTable.Change]) -> Bool {
    let environment = core.environment
    let length = min(lengthMax, environment.fileBytes + environment.roomBytes)
    let needed = bytesNeeded(batch)
    return batch.count > 1 && (needed.trees > length / 8 || !mayFit(needed.files))
  }

  /// The batch must fit behind the end of the trees, or twice into what is free there, and its long bodies on the disk. A
  /// sixteenth is kept for removals, which write too; where the disk has no room for them, free pages are.
  func fits(_ batch: [PendingTable.Change]) -> Bool {
    let environment = core.environment
    let limit = lengthMax
    let (needed, files) = bytesNeeded(batch)
    if files > 0, environment.freeDiskBytes.map({ $0 < needed + files }) ?? false { return false }
    if environment.fileBytes + needed <= limit - limit / 16, environment.reserveSpare(for: needed) == 0 {
      return true
    }
    let missing = environment.reserveSpare()
    guard let pages = try? environment.freePages(before: usableCommit) else { return false }
    return pages * environment.pageBytes >= 2 * needed + missing
  }
}
