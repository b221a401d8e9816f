internal import CNetSpoolLMDB
internal import Glibc

/// What LMDB answered instead of success: one of its own codes (negative) or an errno (positive), never
/// remapped (lmdb.h, "Return Codes").
struct StoreError: Error, Sendable, Hashable {
  let number: Int32

  init(number: Int32) { self.number = number }

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
  var isFull: Bool {
    [MDB_MAP_FULL, ENOSPC, EDQUOT, EFBIG, EIO].contains(number)
  }

  /// A page was not what its parent said.
  var isDamage: Bool {
    [MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID, MDB_BAD_TXN, MDB_BAD_VALSIZE].contains(number)
  }

  var underlying: NetworkError.Underlying {
    number < 0 ? .lmdb(number) : .errno(number)
  }

  func failure(_ code: NetworkError.Code = .storeFailed, reason: String? = nil) -> NetworkError {
    NetworkError(code, reason: reason, underlying: underlying)
  }
}
