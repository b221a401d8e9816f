internal import CNetSpoolLMDB

// A value of more than half a page stands on pages of its own. LMDB never moves these as long as the record
// lives, so their number is a second, shorter way to the bytes: no descent through a tree.
// Page header (mdb.c, `struct MDB_page`), 16 bytes: page number u64, padding u16, flags u16, page count u32.

/// Where a value stands that has pages of its own.
package struct LargeValue: Sendable, Equatable {
  /// The first page; the bytes begin `headerBytes` behind its start.
  package var page: UInt32

  package static let headerBytes = 16
  static let overflowFlag: UInt16 = 0x04

  /// How many pages so many bytes need.
  package static func pages(forBytes bytes: Int, pageBytes: Int) -> Int {
    (headerBytes + bytes + pageBytes - 1) / pageBytes
  }

  /// True when the page header says what it must.
  static func isWhole(header: RawSpan, page: UInt64, pages: Int) -> Bool {
    header.integer(at: 0, as: UInt64.self) == page && header.integer(at: 10, as: UInt16.self) == overflowFlag
      && header.integer(at: 12, as: UInt32.self) == UInt32(pages)
  }
}

extension WriteTransaction {
  /// Appends a value to a database of integers, at a key that must be free. `bytes` must fill more than half
  /// a page. Nil when the key is taken or the page number is too large for us.
  package mutating func putLarge(
    _ bytes: RawSpan, at key: RecordKey, in database: Database
  ) throws(StoreError) -> LargeValue? {
    var value = unsafe MDB_val(mv_size: bytes.byteCount, mv_data: nil)
    let flags = UInt32(MDB_RESERVE) | UInt32(MDB_NOOVERWRITE)
    let status = unsafe key.withValue { key in
      unsafe mdb_put(transaction, database.handle, &key, &value, flags)
    }
    if status == MDB_KEYEXIST { return nil }
    try StoreError.check(status)
    unsafe bytes.withUnsafeBytes { source in
      unsafe value.mv_data.copyMemory(from: source.baseAddress!, byteCount: source.count)
    }
    let header = unsafe value.mv_data - LargeValue.headerBytes
    return UInt32(exactly: unsafe header.loadUnaligned(as: UInt64.self)).map { LargeValue(page: $0) }
  }

  /// Takes a value with pages of its own out. LMDB believes the page header when it frees the pages, so a
  /// header that is damaged would set live pages free: then nothing is done and `.damaged` answered.
  package mutating func removeLarge(
    at key: RecordKey, in database: Database
  ) throws(StoreError) -> LargeRemoval {
    var cursor: OpaquePointer?
    try StoreError.check(unsafe mdb_cursor_open(transaction, database.handle, &cursor))
    defer { unsafe mdb_cursor_close(cursor) }
    var value = unsafe MDB_val()
    let status = unsafe key.withValue { key in unsafe mdb_cursor_get(cursor, &key, &value, MDB_SET) }
    guard try StoreError.found(status) else { return .missing }
    guard unsafe hasWholeHeader(value) else { return .damaged }
    try StoreError.check(unsafe mdb_cursor_del(cursor, 0))
    return .removed
  }

  private func hasWholeHeader(_ value: MDB_val) -> Bool {
    let bytes = LargeValue.headerBytes
    let header = unsafe RawSpan(_unsafeStart: value.mv_data - bytes, byteCount: bytes)
    let pages = LargeValue.pages(forBytes: unsafe value.mv_size, pageBytes: environment.pageBytes)
    // A page written in this transaction is not in the map, so its number cannot be told from its address.
    let isLarge =
      header.integer(at: 10, as: UInt16.self) & ~0x10 == LargeValue.overflowFlag
      && header.integer(at: 12, as: UInt32.self) == UInt32(pages)
    return unsafe isLarge && isAtItsPlace(value, page: header.integer(at: 0))
  }

  private func isAtItsPlace(_ value: MDB_val, page: UInt64) -> Bool {
    guard let offset = unsafe environment.offsetInMap(of: value.mv_data) else { return true }
    return offset == Int64(truncatingIfNeeded: page) &* Int64(environment.pageBytes) + Int64(LargeValue.headerBytes)
  }
}

package enum LargeRemoval: Sendable { case removed, missing, damaged }
