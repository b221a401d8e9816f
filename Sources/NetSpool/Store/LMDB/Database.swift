internal import CNetSpoolLMDB
internal import Glibc

/// A named tree of an environment (lmdb.h, mdb_dbi_open). A number, valid as long as the environment is open.
struct Database: Sendable, Hashable {
  let handle: MDB_dbi

  /// What its keys are.
  enum Keys: Sendable {
    /// Compared byte by byte.
    case bytes
    /// `RecordKey(integer:)`, compared as numbers.
    case integers
  }
}

/// How much a database holds.
struct DatabaseSize: Sendable, Equatable {
  var records = 0
  /// Pages of the file it uses now.
  var pages = 0
}

/// A key of up to 16 bytes, so that none is ever allocated.
struct RecordKey: Sendable, Hashable {
  // Contiguous, first byte first in memory.
  private var words: Words
  let count: Int

  private struct Words: Sendable, Hashable {
    var first: UInt64 = 0
    var second: UInt64 = 0
  }

  /// A number for a database of integers (MDB_INTEGERKEY: the machine's own byte order).
  init(integer: UInt64) { (words, count) = (Words(first: integer), 8) }

  /// Numbers that sort as such when compared byte by byte.
  init(ordered first: UInt64, _ second: UInt64) {
    self.init(digest: first.bigEndian, second.bigEndian)
  }

  /// A number that sorts as such when compared byte by byte.
  init(ordered number: UInt64) { self.init(integer: number.bigEndian) }

  /// 16 bytes of a digest, as they stand in memory.
  init(digest first: UInt64, _ second: UInt64) {
    (words, count) = (Words(first: first, second: second), 16)
  }

  @inline(__always)
  func withValue<Result: ~Copyable, Problem: Error>(
    _ body: (inout MDB_val) throws(Problem) -> Result
  ) throws(Problem) -> Result {
    try unsafe withUnsafeBytes(of: words) { bytes throws(Problem) in
      var value = unsafe MDB_val(
        mv_size: count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress!))
      return try unsafe body(&value)
    }
  }
}

/// What LMDB answered instead of success: one of its own codes (negative) or an errno (positive), never
/// remapped (lmdb.h, "Return Codes").
struct StoreError: Error, Sendable, Hashable {
  let number: Int32

  /// Throws for everything but success.
  static func check(_ status: Int32) throws(StoreError) {
    if status != MDB_SUCCESS { throw StoreError(number: status) }
  }

  /// The same, but a missing record is an answer: false.
  static func found(_ status: Int32) throws(StoreError) -> Bool {
    if status == MDB_NOTFOUND { return false }
    try check(status)
    return true
  }

  /// The disk or the map has no room. A full disk reaches LMDB as EIO when it wrote part of a page.
  var isFull: Bool { [MDB_MAP_FULL, ENOSPC, EDQUOT, EFBIG, EIO].contains(number) }

  /// Another process keeps the lock of the writer.
  var isBusy: Bool { number == EWOULDBLOCK }

  /// A page was not what its parent said.
  var isDamage: Bool {
    [MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID, MDB_BAD_TXN, MDB_BAD_VALSIZE].contains(number)
  }

  var underlying: NetworkError.Underlying { number < 0 ? .lmdb(number) : .errno(number) }

  func failure(_ code: NetworkError.Code = .storeFailed, reason: String? = nil) -> NetworkError {
    NetworkError(code, reason: reason, underlying: underlying)
  }
}
