internal import CNetSpoolShims

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Which file it was and in what state: enough to notice, without reading it, that a file was edited,
/// replaced or removed between two looks.
///
/// An edit that keeps the size and falls into the same tick of the file system's clock (up to 4 ms on
/// ext4) cannot be seen.
struct FileIdentity: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64
  /// Bytes.
  let size: Int64
  /// Nanoseconds since 1970.
  let modified: Int64
  /// A file with a size: no directory, pipe, socket or device.
  let isRegular: Bool

  /// Looks at the file a path leads to, through symbolic links. Blocks as long as the disk needs.
  init(path: String) throws(SystemError) {
    var status = stat()
    _ = try SystemError.check("stat") { unsafe stat(path, &status) }
    self.init(status)
  }

  /// Looks at an open file, whatever its name leads to by now.
  init(of descriptor: borrowing FileDescriptor) throws(SystemError) {
    var status = stat()
    let number = descriptor.rawValue
    _ = try SystemError.check("fstat") { unsafe fstat(number, &status) }
    self.init(status)
  }

  private init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    isRegular = status.st_mode & S_IFMT == S_IFREG
  }
}
