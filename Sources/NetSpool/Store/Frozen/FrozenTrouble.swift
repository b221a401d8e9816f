internal import Glibc

/// What is to be done about a transaction that failed. Nothing of it was written.
enum FrozenTrouble: Sendable, Equatable {
  /// The file's limit is reached: a larger map, or nothing more is accepted.
  case mapFull
  /// The disk is full: later, when somebody made room.
  case diskFull
  /// The disk does not do what it is told, or a page is not what it must be. Never again: after a failed
  /// fsync(2) the kernel believes the pages are written, and the next one would succeed without them.
  case broken

  /// Beyond this a disk that says it cannot write is not full but ill. LMDB says EIO for both.
  private static let roomMin = 16 << 20

  /// `freeBytes`: what the file system has left; nil when it does not say.
  init(_ error: StoreError, freeBytes: Int?) {
    switch error.number {
    case Self.mapFullNumber: self = .mapFull
    case ENOSPC, EDQUOT, EFBIG: self = .diskFull
    case EIO where (freeBytes ?? .max) < Self.roomMin: self = .diskFull
    default: self = .broken
    }
  }

  /// MDB_MAP_FULL.
  static let mapFullNumber: Int32 = -30_792
}
