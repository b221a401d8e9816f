internal import CNetSpoolLMDB

extension WriteTransaction {
  /// Puts a value at a key that should be behind all others: its page is found without a search, and filled before
  /// the next one begins; `put` leaves half of each empty. Where the key is not behind all others it is put all the same.
  mutating func append(
    _ value: RawSpan, at key: RecordKey, in database: Database
  ) throws(StoreError) {
    let status = unsafe value.withUnsafeBytes { bytes in
      var value = unsafe MDB_val(
        mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      return unsafe key.withValue { key in
        unsafe mdb_put(transaction, database.handle, &key, &value, UInt32(MDB_APPEND))
      }
    }
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
