internal import CNetSpoolLMDB
internal import Glibc
internal import Synchronization

/// An open LMDB environment: one per file and process, for all callers (see `EnvironmentRegistry`).
///
/// It counts its holders and closes with the last one: the stores that use it and every read transaction.
/// Reading and writing may go on in many threads; each transaction keeps to one at a time.
@safe final class Environment: Sendable {
  // Safe because an MDB_env may be used by many threads (lmdb.h, mdb_env_open), and is closed only after its
  // last holder let it go.
  @safe
  private struct Handle: @unchecked Sendable { let pointer: OpaquePointer }

  private let handle: Handle
  let identity: FileIdentity
  let settings: EnvironmentSettings
  let directory: EnvironmentDirectory
  /// What the directory held before, when it had to be moved aside.
  let opening: EnvironmentOpening
  let pageBytes: Int
  private let mapLength: Atomic<Int>
  /// The address of the file's first byte.
  private let mapAddress: Atomic<UInt>
  private let generation = ForkGuard.begin()
  private let holders = Atomic<Int>(1)
  private let readers = BusyMutex<[UInt]>([])
  /// How far the disk has set room aside.
  private let spareEnd: Atomic<Int>

  init(
    handle: OpaquePointer, settings: EnvironmentSettings, directory: EnvironmentDirectory,
    identity: FileIdentity, opening: EnvironmentOpening
  ) throws(StoreError) {
    self.handle = unsafe Handle(pointer: handle)
    self.settings = settings
    self.directory = directory
    self.identity = identity
    self.opening = opening
    var information = unsafe MDB_envinfo()
    try StoreError.check(unsafe mdb_env_info(handle, &information))
    var status = MDB_stat()
    try StoreError.check(unsafe mdb_env_stat(handle, &status))
    mapLength = Atomic(Int(unsafe information.me_mapsize))
    pageBytes = Int(status.ms_psize)
    mapAddress = Atomic(try unsafe Environment.findMapStart(handle, pageBytes: Int(status.ms_psize)))
    spareEnd = Atomic(directory.dataBytes ?? 0)
  }

  private var pointer: OpaquePointer { unsafe handle.pointer }

  /// False in a child of the process that opened it; then nothing may be done with it.
  var isOurs: Bool { ForkGuard.generation == generation }
}

// MARK: Facts

extension Environment {
  var mapBytes: Int { mapLength.load(ordering: .relaxed) }

  @inline(__always)
  private var mapStart: UInt { mapAddress.load(ordering: .relaxed) }

  /// The number of the newest commit by any process.
  @inline(__always)
  var newestCommit: UInt64 {
    var information = unsafe MDB_envinfo()
    unsafe mdb_env_info(handle.pointer, &information)
    return UInt64(unsafe information.me_last_txnid)
  }

  /// The part of the file that is or was in use.
  var fileBytes: Int {
    var information = unsafe MDB_envinfo()
    unsafe mdb_env_info(handle.pointer, &information)
    return (Int(unsafe information.me_last_pgno) + 1) * pageBytes
  }

  /// True if the file is as long as its newest commit says: reading behind the end would be SIGBUS.
  var isFileWhole: Bool {
    // Before the length, which only grows: another process may commit in between.
    let needed = max(fileBytes, 2 * pageBytes)
    return directory.dataBytes.map { $0 >= needed } ?? false
  }

  /// Makes the file as long as its newest commit says. The last pages of a commit may be free ones that LMDB had no reason
  /// to write. Only for who is the writer, or alone: it would cut off what another writes.
  func lengthenFile() {
    let bytes = fileBytes
    if let dataBytes = directory.dataBytes, dataBytes < bytes { directory.lengthenData(to: bytes) }
  }

  /// How far behind the first byte of the file an address is; nil outside.
  func offsetInMap(of address: UnsafeRawPointer) -> Int64? {
    let offset = Int64(bitPattern: UInt64(UInt(bitPattern: address) &- mapStart))
    return offset >= 0 && offset < Int64(mapBytes) ? offset : nil
  }

  /// A copy of bytes in the map. Nil when the disk would have to be waited for, unless that is allowed.
  func copy(from start: UInt, count: Int, waiting: Bool) -> [UInt8]? {
    let source = unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: start), count: count)
    if waiting { return unsafe [UInt8](source) }
    var isThere = false
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      isThere = unsafe directory.readCached(
        into: UnsafeMutableRawBufferPointer(buffer), at: Int64(start &- mapStart))
      filled = isThere ? count : 0
    }
    return isThere ? bytes : nil
  }

  /// The bytes of a value with pages of its own; nil when they would not lie in the first `fileBytes`.
  func address(ofLargeValueAt page: UInt32, bytes: Int, fileBytes: Int) -> UnsafeRawPointer? {
    let start = Int(page) * pageBytes + LargeValue.headerBytes
    guard page >= 2, bytes >= 0, start + bytes <= fileBytes else { return nil }
    return unsafe UnsafeRawPointer(bitPattern: mapStart + UInt(start))
  }

  /// Gives back the memory that reading the file made resident; the next reader finds it in the page cache.
  func forgetResidentPages() {
    _ = unsafe madvise(UnsafeMutableRawPointer(bitPattern: mapStart), mapBytes, MADV_DONTNEED)
  }

  /// The map begins where a page says its number is zero: found through a record of the main tree.
  fileprivate static func findMapStart(_ handle: OpaquePointer, pageBytes: Int) throws(StoreError) -> UInt {
    var transaction: OpaquePointer?
    try StoreError.check(unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction))
    defer { unsafe mdb_txn_abort(transaction) }
    var main: MDB_dbi = 0
    try StoreError.check(unsafe mdb_dbi_open(transaction, nil, 0, &main))
    var cursor: OpaquePointer?
    try StoreError.check(unsafe mdb_cursor_open(transaction, main, &cursor))
    defer { unsafe mdb_cursor_close(cursor) }
    var (key, value) = unsafe (MDB_val(), MDB_val())
    try StoreError.check(unsafe mdb_cursor_get(cursor, &key, &value, MDB_FIRST))
    let start = unsafe UInt(bitPattern: value.mv_data) & ~UInt(pageBytes - 1)
    let number = unsafe UnsafeRawPointer(bitPattern: start)!.load(as: UInt64.self)
    return start - UInt(number) * UInt(pageBytes)
  }
}

// MARK: Space

extension Environment {
  /// Makes room for a longer file (lmdb.h, mdb_env_set_mapsize). Only while no transaction of this process is
  /// running, reading ones included: the map moves.
  func grow(to bytes: Int) throws(StoreError) {
    try StoreError.check(unsafe mdb_env_set_mapsize(pointer, bytes))
    mapLength.store(bytes, ordering: .relaxed)
    mapAddress.store(try unsafe Self.findMapStart(pointer, pageBytes: pageBytes), ordering: .relaxed)
  }

  /// Has the disk set aside what is about to be written, and some room behind it, so that removals, which write pages
  /// too, never fail on a full disk. Answers how much is missing: 0 unless there is hardly any room left.
  func reserveSpare(for bytes: Int = 0) -> Int {
    let end = fileBytes + bytes
    var spare = spareEnd.load(ordering: .relaxed)
    let enough = end + Self.spareBytes / 2
    if spare >= enough { return 0 }
    // What is in use may not have been written: pages that a transaction took and let go.
    if directory.reserveData(from: spare, bytes: end + Self.spareBytes - spare) {
      spare = end + Self.spareBytes
    } else if spare < end, directory.reserveData(from: spare, bytes: end - spare) {
      spare = end
    }
    // Piece by piece: a file system that has no room for all may give back what it had set aside of it before.
    while spare < end + Self.spareBytes, directory.reserveData(from: spare, bytes: Self.sparePiece) {
      spare += Self.sparePiece
    }
    spareEnd.store(spare, ordering: .relaxed)
    return max(0, enough - spare)
  }

  /// What can be written behind what is in use: set aside already, or left for this user.
  var roomBytes: Int {
    let bytes = fileBytes
    return min(spareEnd.load(ordering: .relaxed) - bytes + (freeDiskBytes ?? 0), Self.fileBytesMax - bytes)
  }

  /// How long this process may make a file (setrlimit(2), RLIMIT_FSIZE).
  static var fileBytesMax: Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return .max }
    return Int(clamping: limit.rlim_cur)
  }

  private static let spareBytes = 512 << 10
  private static let sparePiece = 64 << 10

  /// Bytes that the file system under it has left for this user; nil when it does not say.
  var freeDiskBytes: Int? {
    var facts = statvfs()
    guard unsafe statvfs(directory.path, &facts) == 0 else { return nil }
    return Int(clamping: UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize)).0)
  }
}

// MARK: Transactions

extension Environment {
  func read() throws(StoreError) -> ReadTransaction { try ReadTransaction(self) }

  /// Runs `body` in a write transaction and commits it; whatever it throws leaves nothing behind.
  /// Waits for the writer of another process.
  func write<Result>(
    _ body: (inout WriteTransaction) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    var transaction = try WriteTransaction(self)
    let result = try body(&transaction)
    try transaction.commit()
    return result
  }

  func beginTransaction(flags: UInt32) throws(StoreError) -> OpaquePointer {
    var transaction: OpaquePointer?
    try StoreError.check(unsafe mdb_txn_begin(pointer, nil, flags, &transaction))
    return unsafe transaction!
  }

  /// A reader is kept after use: renewing one takes no lock and no slot in the table of readers.
  func takeReader() throws(StoreError) -> OpaquePointer {
    let number = readers.withLock { $0.popLast() }
    guard let number, let kept = unsafe OpaquePointer(bitPattern: number) else {
      return try unsafe beginTransaction(flags: UInt32(MDB_RDONLY))
    }
    let status = unsafe mdb_txn_renew(kept)
    if status != MDB_SUCCESS { unsafe mdb_txn_abort(kept) }
    try StoreError.check(status)
    return unsafe kept
  }

  func giveBack(reader: OpaquePointer) {
    guard isOurs else { return }
    unsafe mdb_txn_reset(reader)
    let isKept = readers.withLock { readers in
      guard readers.count < 8 else { return false }
      readers.append(UInt(bitPattern: reader))
      return true
    }
    if !isKept { unsafe mdb_txn_abort(reader) }
  }

  /// Frees the places of readers whose process is gone (mdb_reader_check), and answers how many there were.
  @discardableResult
  func clearDeadReaders() -> Int {
    var count: Int32 = 0
    unsafe mdb_reader_check(pointer, &count)
    return Int(count)
  }

  /// Has the disk write all that was committed; waits for it.
  func sync() throws(StoreError) { try StoreError.check(unsafe mdb_env_sync(pointer, 1)) }

  /// Pages of the file that a writer may use again as long as no reader is older than `commit`. They stand in
  /// a tree of their own, number 0, under the commit that set them free; a record begins with their count.
  func freePages(before commit: UInt64) throws(StoreError) -> Int {
    let most = fileBytes / pageBytes
    var pages = 0
    try read().forEach(in: Database(handle: 0)) { record in
      guard record.key.byteCount == 8, record.value.byteCount >= 8,
        record.key.integer(at: 0, as: UInt64.self) < commit
      else { return false }
      // No checksum covers this tree: what it says is a hint, and cannot be more than there is.
      let stated = record.value.integer(at: 0, as: UInt64.self)
      pages = min(most, pages + Int(min(stated, UInt64(most))))
      return true
    }
    return pages
  }
}

// MARK: Holders

extension Environment {
  /// Counts one more holder. Only for a caller that is certain that there is another.
  func retain() { holders.add(1, ordering: .relaxed) }

  /// Takes off one holder; the last one closes. Not from inside a transaction.
  func drop() {
    var count = holders.load(ordering: .relaxed)
    while count > 1 {
      let (exchanged, original) = holders.compareExchange(
        expected: count, desired: count - 1, ordering: .acquiringAndReleasing)
      if exchanged { return }
      count = original
    }
    // The last one, unless somebody opens it again just now: the registry's lock decides.
    EnvironmentRegistry.shared.closing(self) {
      if holders.subtract(1, ordering: .acquiringAndReleasing).newValue > 0 { return false }
      close()
      return true
    }
  }

  private func close() {
    guard isOurs else { return }
    let kept = readers.withLock { readers in
      defer { readers = [] }
      return readers
    }
    for reader in kept { unsafe mdb_txn_abort(OpaquePointer(bitPattern: reader)) }
    let isSynced = settings.isDisposable ? (try? sync()) != nil : true
    unsafe mdb_env_close(pointer)
    directory.leave(isSynced: isSynced)
  }
}
