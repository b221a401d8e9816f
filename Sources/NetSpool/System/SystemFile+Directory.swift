internal import CNetSpoolShims
internal import Glibc

/// Calls that name a file inside an open directory, so that a directory renamed meanwhile is still the same one.
extension SystemFile {
  struct Status: Sendable {
    enum Kind: Sendable { case regular, directory, symlink, pipe, socket, characterDevice, other }
    var kind: Kind
    var permissions: UInt32
    var bytes: Int64
  }

  /// Opens a directory to name files in; needs no permission to list it.
  static func directory(_ path: String) throws(CallFailure) -> SystemFile {
    SystemFile(owning: try check { unsafe open(path, cnetspool_o_path | O_DIRECTORY | O_CLOEXEC) })
  }

  /// Creates a file nobody else has, readable by its owner only; a taken name, even a symlink's, is EEXIST.
  func createNew(_ name: String) throws(CallFailure) -> SystemFile {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    return SystemFile(owning: try SystemFile.check { unsafe openat(descriptor, name, flags, 0o600) })
  }

  /// Opens an existing file to write to. Never follows a symlink (ELOOP) and never waits for a pipe's reader.
  func openExisting(_ name: String) throws(CallFailure) -> SystemFile {
    let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
    return SystemFile(owning: try SystemFile.check { unsafe openat(descriptor, name, flags) })
  }

  /// Gives `from` the name `to` in one step, replacing what is there, a symlink itself included.
  func rename(_ from: String, to: String) throws(CallFailure) {
    try SystemFile.check { unsafe renameat(descriptor, from, descriptor, to) }
  }

  /// The same, but a taken name is EEXIST.
  func renameNew(_ from: String, to: String) throws(CallFailure) {
    do {
      try SystemFile.check { unsafe cnetspool_rename_new(descriptor, from, to) }
    } catch  where error.number == EINVAL {
      // A file system without that flag has links instead, and a link never replaces.
      try SystemFile.check { unsafe linkat(descriptor, from, descriptor, to, 0) }
      unlink(from)
    }
  }

  func unlink(_ name: String) { _ = unsafe unlinkat(descriptor, name, 0) }

  /// What stands at a name, a symlink not followed; nil when nothing does.
  func status(of name: String) -> Status? {
    var status = stat()
    guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    return Status(status)
  }

  func status() throws(CallFailure) -> Status {
    try SystemFile.status(ofDescriptor: descriptor)
  }

  static func status(ofDescriptor descriptor: CInt) throws(CallFailure) -> Status {
    var status = stat()
    try check { unsafe fstat(descriptor, &status) }
    return Status(status)
  }
}

extension SystemFile.Status {
  init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .directory
      case S_IFLNK: .symlink
      case S_IFIFO: .pipe
      case S_IFSOCK: .socket
      case S_IFCHR: .characterDevice
      default: .other
      }
    permissions = UInt32(status.st_mode & 0o777)
    bytes = Int64(status.st_size)
  }
}
