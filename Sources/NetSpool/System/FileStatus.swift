// Both: Swift knows `struct stat` from whichever module happened to read <sys/stat.h> first.
internal import CNetSpoolShims
internal import Glibc

/// What the system says of a file (stat(2)).
struct FileStatus: Equatable, Sendable {
  enum Kind: Sendable { case regular, directory, symlink, pipe, socket, characterDevice, other }

  let identity: FileIdentity
  let kind: Kind
  /// The user it belongs to.
  let owner: UInt32
  /// What its owner, its group and everybody may do: the lowest nine bits of its mode.
  let permissions: UInt32
  let bytes: Int64
  /// Nanoseconds since 1970.
  let modified: Int64

  var isRegular: Bool { kind == .regular }

  /// Looks at the file a path leads to, through symbolic links. Blocks as long as the disk needs.
  init(path: String) throws(SystemError) {
    var status = stat()
    _ = try SystemError.check("stat") { unsafe stat(path, &status) }
    self.init(status)
  }

  /// Looks at an open file, whatever its name leads to by now.
  init(of descriptor: borrowing FileDescriptor) throws(SystemError) {
    try self.init(ofDescriptor: descriptor.rawValue)
  }

  /// The same for a descriptor that others own.
  init(ofDescriptor descriptor: Int32) throws(SystemError) {
    var status = stat()
    _ = try SystemError.check("fstat") { unsafe fstat(descriptor, &status) }
    self.init(status)
  }

  /// Looks at what stands at a name, a symlink not followed; nil when nothing does.
  init?(named name: String, in directory: borrowing FileDescriptor) {
    var status = stat()
    guard unsafe fstatat(directory.rawValue, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    self.init(status)
  }

  private init(_ status: stat) {
    identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    kind = Kind(mode: status.st_mode)
    owner = status.st_uid
    permissions = UInt32(status.st_mode & 0o777)
    bytes = Int64(status.st_size)
    modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
  }
}

extension FileStatus.Kind {
  fileprivate init(mode: mode_t) {
    self =
      switch mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .directory
      case S_IFLNK: .symlink
      case S_IFIFO: .pipe
      case S_IFSOCK: .socket
      case S_IFCHR: .characterDevice
      default: .other
      }
  }
}

/// A file's identity, whatever names lead to it.
struct FileIdentity: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64
}

/// A file and the state it was in: enough to notice, without reading it, that a file was edited,
/// replaced or removed between two looks.
///
/// An edit that keeps the size and falls into the same tick of the file system's clock (up to 4 ms on
/// ext4) cannot be seen.
struct FileVersion: Hashable, Sendable {
  let identity: FileIdentity
  /// Bytes.
  let size: Int64
  /// Nanoseconds since 1970.
  let modified: Int64

  init(_ status: FileStatus) {
    identity = status.identity
    size = status.bytes
    modified = status.modified
  }
}
