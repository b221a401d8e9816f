internal import CNetSpoolLMDB
internal import Synchronization

/// A view of the environment as it was at one commit. While it lives, pages freed since stay unused, so it
/// must not live long (lmdb.h, "Caveats").
///
/// One thread at a time. Values are borrowed from the map and valid as long as the transaction lives.
@safe struct ReadTransaction: ~Copyable {
  private let transaction: OpaquePointer
  private let environment: Environment
  /// The number of the commit it sees.
  let identifier: UInt64

  init(_ environment: Environment) throws(StoreError) {
    self.environment = environment
    unsafe transaction = try environment.takeReader()
    identifier = UInt64(unsafe mdb_txn_id(transaction))
    environment.retain()
  }

  deinit {
    unsafe environment.giveBack(reader: transaction)
    environment.drop()
  }

  /// The value at a key, nil when there is none.
  @_lifetime(borrow self)
  @inline(__always)
  func value(at key: RecordKey, in database: Database) throws(StoreError) -> RawSpan? {
    // A variable outside the closure would be allocated, for every lookup.
    let (status, value) = unsafe key.withValue { key in
      var value = unsafe MDB_val()
      return unsafe (mdb_get(transaction, database.handle, &key, &value), value)
    }
    guard try StoreError.found(status) else { return nil }
    let span = unsafe RawSpan(_unsafeStart: value.mv_data, byteCount: value.mv_size)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// Goes through the records at and behind a key in order, for as long as `visit` says so.
  func forEach(
    from key: RecordKey? = nil, in database: Database, _ visit: (borrowing Record) -> Bool
  ) throws(StoreError) {
    try unsafe MappedRecord.forEach(from: key, in: database, of: transaction, visit)
  }
}

/// A record borrowed from a transaction.
struct Record: ~Escapable {
  let key: RawSpan
  let value: RawSpan

  @_lifetime(copy key, copy value)
  init(key: RawSpan, value: RawSpan) {
    self.key = key
    self.value = value
  }
}

/// A record found by a cursor.
@safe struct MappedRecord {
  private let key: MDB_val
  private let value: MDB_val

  private init(_ key: MDB_val, _ value: MDB_val) {
    unsafe self.key = key
    unsafe self.value = value
  }

  /// The first record at `key` or behind it.
  init?(from key: RecordKey, in database: Database, of transaction: OpaquePointer) throws(StoreError) {
    let cursor = try unsafe Self.openCursor(in: database, of: transaction)
    defer { unsafe mdb_cursor_close(cursor) }
    guard let record = try unsafe Self.move(cursor, to: key, MDB_SET_RANGE) else { return nil }
    self = record
  }

  /// The last record before `key`.
  init?(before key: RecordKey, in database: Database, of transaction: OpaquePointer) throws(StoreError) {
    let cursor = try unsafe Self.openCursor(in: database, of: transaction)
    defer { unsafe mdb_cursor_close(cursor) }
    let isFound = unsafe try Self.move(cursor, to: key, MDB_SET_RANGE) != nil
    guard let record = try unsafe Self.move(cursor, to: nil, isFound ? MDB_PREV : MDB_LAST) else {
      return nil
    }
    self = record
  }

  /// Valid as long as the transaction says so.
  var borrowed: Record {
    @_lifetime(borrow self) get {
      let key = unsafe RawSpan(_unsafeStart: self.key.mv_data, byteCount: self.key.mv_size)
      let value = unsafe RawSpan(_unsafeStart: self.value.mv_data, byteCount: self.value.mv_size)
      return unsafe _overrideLifetime(Record(key: key, value: value), borrowing: self)
    }
  }

  static func forEach(
    from key: RecordKey?, in database: Database, of transaction: OpaquePointer,
    _ visit: (borrowing Record) -> Bool
  ) throws(StoreError) {
    let cursor = try unsafe openCursor(in: database, of: transaction)
    defer { unsafe mdb_cursor_close(cursor) }
    var record = try unsafe move(cursor, to: key, key == nil ? MDB_FIRST : MDB_SET_RANGE)
    while let found = record, visit(found.borrowed) { record = try unsafe move(cursor, to: nil, MDB_NEXT) }
  }

  static func openCursor(
    in database: Database, of transaction: OpaquePointer
  ) throws(StoreError) -> OpaquePointer {
    var cursor: OpaquePointer?
    try StoreError.check(unsafe mdb_cursor_open(transaction, database.handle, &cursor))
    return unsafe cursor!
  }

  private static func move(
    _ cursor: OpaquePointer, to key: RecordKey?, _ operation: MDB_cursor_op
  ) throws(StoreError) -> MappedRecord? {
    try unsafe (key ?? RecordKey(integer: 0)).withValue { found throws(StoreError) in
      var value = unsafe MDB_val()
      let status = unsafe mdb_cursor_get(cursor, &found, &value, operation)
      return try StoreError.found(status) ? unsafe MappedRecord(found, value) : nil
    }
  }
}

/// Keeps what a process has of a store's file in memory within a limit: when that much has come in, all of it is
/// given back, and what is needed again comes from the system's page cache.
///
/// Any thread. Counts what was read, not what is resident, which only the kernel knows.
final class MappedPages: Sendable {
  private let environment: Environment
  private let limit: Int?
  private let bytes = Atomic<Int>(0)
  private let isAnyIn = Atomic(false)

  /// `limit`: in bytes; nil leaves it all to the system.
  init(of environment: Environment, limit: Int?) {
    self.environment = environment
    self.limit = limit
  }

  /// What one page fault makes resident at most: the kernel maps what it has of the pages around as well
  /// (`fault_around_bytes`, 64 KiB unless a system's owner changed it).
  static let faultBytes = 64 << 10

  /// Notes that so many bytes were read, and how often the place jumped.
  @inline(__always)
  func count(_ count: Int = 0, faults: Int) {
    // Read first: a line of memory that is written for every request would be every thread's.
    if !isAnyIn.load(ordering: .relaxed) { isAnyIn.store(true, ordering: .relaxed) }
    guard let limit else { return }
    add(count + faults * Self.faultBytes, limit)
  }

  /// True when something came in since all was given back.
  var mayHoldSome: Bool { isAnyIn.load(ordering: .relaxed) }

  func giveBack() {
    isAnyIn.store(false, ordering: .relaxed)
    environment.forgetResidentPages()
  }

  private func add(_ count: Int, _ limit: Int) {
    guard bytes.add(count, ordering: .relaxed).newValue >= limit else { return }
    bytes.store(0, ordering: .relaxed)
    environment.forgetResidentPages()
  }
}
