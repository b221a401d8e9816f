internal import CNetSpoolLMDB

// A value of more than half a page stands on pages of its own. LMDB never moves these as long as the record
// lives, so their number is a second, shorter way to the bytes: no descent through a tree.
// Page header (mdb.c, `struct MDB_page`), 16 bytes: page number u64, padding u16, flags u16, page count u32.

/// The position of a value that has pages of its own.
struct LargeValue: Sendable, Equatable {
  /// The first page; the bytes begin `headerBytes` behind its start.
  var page: UInt32
  /// The checksum of all parts together, without what fills the last page.
  var checksum: UInt64

  static let headerBytes = 16
  static let overflowFlag: UInt16 = 0x04
  static let newFlag: UInt16 = 0x10

  /// The number of pages that so many bytes need.
  static func pages(forBytes bytes: Int, pageBytes: Int) -> Int {
    (headerBytes + max(bytes, pageBytes / 2) + pageBytes - 1) / pageBytes
  }

  /// True when the page header says what it must.
  static func isWhole(header: RawSpan, page: UInt64, pages: Int) -> Bool {
    header.integer(at: 0, as: UInt64.self) == page && header.integer(at: 10, as: UInt16.self) == overflowFlag
      && Int(header.integer(at: 12, as: UInt32.self)) == pages
  }
}

extension WriteTransaction {
  /// Puts three parts as one value into a database of integers, at a key that must be free; fewer bytes than
  /// half a page are filled up with zeros. Nil when the key is taken or the page number is too large for us.
  mutating func putLarge(
    _ first: [UInt8], _ second: [UInt8], _ third: [UInt8], at key: RecordKey, in database: Database
  ) throws(StoreError) -> LargeValue? {
    let bytes = first.count + second.count + third.count
    var value = unsafe MDB_val(mv_size: max(bytes, environment.pageBytes / 2), mv_data: nil)
    let flags = UInt32(MDB_RESERVE) | UInt32(MDB_NOOVERWRITE)
    let status = unsafe key.withValue { key in
      unsafe mdb_put(transaction, database.handle, &key, &value, flags)
    }
    if status == MDB_KEYEXIST { return nil }
    try StoreError.check(status)
    let memory = unsafe UnsafeMutableRawBufferPointer(start: value.mv_data, count: value.mv_size)
    unsafe memory.fill(first, second, third)
    let checksum = Checksum.of(unsafe RawSpan(_unsafeStart: value.mv_data, byteCount: bytes))
    let header = unsafe value.mv_data - LargeValue.headerBytes
    let page = unsafe UInt32(exactly: header.loadUnaligned(as: UInt64.self))
    return page.map { LargeValue(page: $0, checksum: checksum) }
  }

  /// Takes a value with pages of its own out. LMDB believes the page header when it frees the pages, so a
  /// header that is damaged would set live pages free: then nothing is done and `.damaged` answered.
  mutating func removeLarge(at key: RecordKey, in database: Database) throws(StoreError) -> LargeRemoval {
    let cursor = try unsafe MappedRecord.openCursor(in: database, of: transaction!)
    defer { unsafe mdb_cursor_close(cursor) }
    var value = unsafe MDB_val()
    let status = unsafe key.withValue { key in unsafe mdb_cursor_get(cursor, &key, &value, MDB_SET) }
    guard try StoreError.found(status) else { return .missing }
    guard unsafe hasWholeHeader(value) else { return .damaged }
    try StoreError.check(unsafe mdb_cursor_del(cursor, 0))
    return .removed
  }

  /// True if all values with pages of their own can be freed: LMDB ends the process at the first whose header is not
  /// what it wrote.
  func hasWholeLargeValues(in database: Database) throws(StoreError) -> Bool {
    let cursor = try unsafe MappedRecord.openCursor(in: database, of: transaction!)
    defer { unsafe mdb_cursor_close(cursor) }
    var key = unsafe MDB_val()
    var value = unsafe MDB_val()
    while try StoreError.found(unsafe mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
      guard unsafe hasWholeHeader(value) else { return false }
    }
    return true
  }

  /// A page of the file, or one that was written in this transaction and is not in the map yet: that one is
  /// marked, and its number cannot be told from its address.
  private func hasWholeHeader(_ value: MDB_val) -> Bool {
    let bytes = LargeValue.headerBytes
    let header = unsafe RawSpan(_unsafeStart: value.mv_data - bytes, byteCount: bytes)
    let pages = LargeValue.pages(forBytes: unsafe value.mv_size, pageBytes: environment.pageBytes)
    guard let offset = unsafe environment.offsetInMap(of: value.mv_data) else {
      return header.integer(at: 10) == LargeValue.overflowFlag | LargeValue.newFlag
    }
    let page = (UInt64(offset) - UInt64(bytes)) / UInt64(environment.pageBytes)
    return LargeValue.isWhole(header: header, page: page, pages: pages)
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Takes the parts one behind the other, then zeros.
  fileprivate func fill(_ parts: [UInt8]...) {
    var offset = 0
    for part in parts {
      let place = unsafe UnsafeMutableRawBufferPointer(rebasing: self[offset..<offset + part.count])
      unsafe part.withUnsafeBytes { unsafe place.copyMemory(from: $0) }
      offset += part.count
    }
    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: self[offset...])
    unsafe rest.initializeMemory(as: UInt8.self, repeating: 0)
  }
}

enum LargeRemoval: Sendable { case removed, missing, damaged }
