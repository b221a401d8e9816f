internal import CNetSpoolLMDB

/// The one write transaction an environment can have at a time, all processes together: taking it waits for
/// the others. It belongs to the thread that began it.
///
/// Without `commit()` nothing of it remains.
@safe struct WriteTransaction: ~Copyable {
  private(set) var transaction: OpaquePointer?
  let environment: Environment
  private var isCommitted = false

  /// Throws EWOULDBLOCK when another process writes for longer than `patience`; that of the settings unless told.
  init(_ environment: Environment, patience: Microseconds? = nil) throws(StoreError) {
    do throws(SystemError) {
      try environment.directory.lockWriter(patience: patience ?? environment.settings.patience)
    } catch {
      throw StoreError(number: error.number)
    }
    do throws(StoreError) {
      unsafe transaction = try environment.beginTransaction(flags: 0)
    } catch {
      environment.directory.unlockWriter()
      throw error
    }
    self.environment = environment
  }

  deinit {
    guard environment.isOurs else { return }
    if let transaction = unsafe transaction { unsafe mdb_txn_abort(transaction) }
    if isCommitted { environment.lengthenFile() }
    environment.directory.unlockWriter()
  }

  /// After an error the transaction is gone and nothing of it was kept.
  consuming func commit() throws(StoreError) {
    let ending = unsafe transaction!
    unsafe transaction = nil
    try StoreError.check(unsafe mdb_txn_commit(ending))
    isCommitted = true
  }

  /// Opens a database, making it when it is missing. It stays usable once this transaction is committed.
  mutating func database(_ name: String, keys: Database.Keys = .bytes) throws(StoreError) -> Database {
    let flags = UInt32(MDB_CREATE) | (keys == .integers ? UInt32(MDB_INTEGERKEY) : 0)
    var handle: MDB_dbi = 0
    try StoreError.check(unsafe mdb_dbi_open(transaction, name, flags, &handle))
    return Database(handle: handle)
  }

  func size(of database: Database) throws(StoreError) -> DatabaseSize {
    var status = MDB_stat()
    try StoreError.check(unsafe mdb_stat(transaction, database.handle, &status))
    return DatabaseSize(
      records: Int(status.ms_entries),
      pages: Int(status.ms_branch_pages + status.ms_leaf_pages + status.ms_overflow_pages))
  }
}

// MARK: Reading

extension WriteTransaction {
  /// The value at a key, nil when there is none. Valid until the next change.
  @_lifetime(borrow self)
  func value(at key: RecordKey, in database: Database) throws(StoreError) -> RawSpan? {
    var value = unsafe MDB_val()
    let status = unsafe key.withValue { key in
      unsafe mdb_get(transaction, database.handle, &key, &value)
    }
    guard try StoreError.found(status) else { return nil }
    let span = unsafe RawSpan(_unsafeStart: value.mv_data, byteCount: value.mv_size)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// The first record at a key or behind it, nil when there is none. Valid until the next change.
  @_lifetime(borrow self)
  func first(from key: RecordKey, in database: Database) throws(StoreError) -> Record? {
    guard let record = try unsafe MappedRecord(from: key, in: database, of: transaction!) else { return nil }
    return unsafe _overrideLifetime(record.borrowed, borrowing: self)
  }

  /// The last record before a key, nil when there is none. Valid until the next change.
  @_lifetime(borrow self)
  func last(before key: RecordKey, in database: Database) throws(StoreError) -> Record? {
    guard let record = try unsafe MappedRecord(before: key, in: database, of: transaction!) else {
      return nil
    }
    return unsafe _overrideLifetime(record.borrowed, borrowing: self)
  }

  /// As in a `ReadTransaction`.
  func forEach(
    from key: RecordKey? = nil, in database: Database, _ visit: (borrowing Record) -> Bool
  ) throws(StoreError) {
    try unsafe MappedRecord.forEach(from: key, in: database, of: transaction!, visit)
  }
}

// MARK: Changing

extension WriteTransaction {
  /// Puts a value at a key, in place of what was there.
  mutating func put(_ value: RawSpan, at key: RecordKey, in database: Database) throws(StoreError) {
    try StoreError.check(put(value, at: key, in: database, 0))
  }

  private func put(_ value: RawSpan, at key: RecordKey, in database: Database, _ flags: Int32) -> Int32 {
    unsafe value.withUnsafeBytes { bytes in
      var value = unsafe MDB_val(
        mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      return unsafe key.withValue { key in
        unsafe mdb_put(transaction, database.handle, &key, &value, UInt32(flags))
      }
    }
  }

  /// Puts a value at a key that is free. False, and nothing done, when it is taken.
  mutating func putNew(
    _ value: RawSpan, at key: RecordKey, in database: Database
  ) throws(StoreError) -> Bool {
    let status = put(value, at: key, in: database, MDB_NOOVERWRITE)
    if status == MDB_KEYEXIST { return false }
    try StoreError.check(status)
    return true
  }

  /// Takes a record out. False when there was none.
  @discardableResult
  mutating func remove(at key: RecordKey, in database: Database) throws(StoreError) -> Bool {
    try StoreError.found(
      unsafe key.withValue { key in unsafe mdb_del(transaction, database.handle, &key, nil) })
  }

  /// Takes all records out; the database stays.
  mutating func removeAll(in database: Database) throws(StoreError) {
    try StoreError.check(unsafe mdb_drop(transaction, database.handle, 0))
  }

  /// Puts a value at a key that should be behind all others: its page is found without a search, and filled before
  /// the next one begins; `put` leaves half of each empty. Where the key is not behind all others it is put all the same.
  mutating func append(_ value: RawSpan, at key: RecordKey, in database: Database) throws(StoreError) {
    let status = put(value, at: key, in: database, MDB_APPEND)
    if status == MDB_KEYEXIST { return try put(value, at: key, in: database) }
    try StoreError.check(status)
  }

  /// Takes a database out, with all that is in it; nothing when there is none.
  mutating func removeDatabase(_ name: String) throws(StoreError) {
    var handle: MDB_dbi = 0
    let status = unsafe mdb_dbi_open(transaction, name, 0, &handle)
    guard try StoreError.found(status) else { return }
    try StoreError.check(unsafe mdb_drop(transaction, handle, 1))
  }
}
