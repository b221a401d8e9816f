internal import CNetSpoolShims
internal import Glibc

/// Calls that name a file inside an open directory, so that a directory renamed meanwhile is still the same one.
extension FileDescriptor {
  /// Opens a directory to name files in; needs no permission to list it.
  static func directory(_ path: String) throws(SystemError) -> FileDescriptor {
    try FileDescriptor(opening: path, flags: cnetspool_o_path | O_DIRECTORY)
  }

  /// Creates a file nobody else has, readable by its owner only; a taken name, even a symlink's, is EEXIST.
  borrowing func createNew(_ name: String) throws(SystemError) -> FileDescriptor {
    try FileDescriptor(opening: name, in: self, flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
  }

  /// Opens an existing file to write to. Never follows a symlink (ELOOP) and never waits for a pipe's reader.
  borrowing func openExisting(_ name: String) throws(SystemError) -> FileDescriptor {
    try FileDescriptor(opening: name, in: self, flags: O_RDWR | O_NOFOLLOW | O_NONBLOCK)
  }

  /// Gives `from` the name `to` in one step, replacing what is there, a symlink itself included.
  borrowing func rename(_ from: String, to: String) throws(SystemError) {
    let number = rawValue
    _ = try SystemError.check("renameat") { unsafe renameat(number, from, number, to) }
  }

  /// The same, but a taken name is EEXIST.
  borrowing func renameNew(_ from: String, to: String) throws(SystemError) {
    let number = rawValue
    do {
      _ = try SystemError.check("renameat2") { unsafe cnetspool_rename_new(number, from, to) }
    } catch  where error.number == EINVAL {
      // A file system without that flag has links instead, and a link never replaces.
      _ = try SystemError.check("linkat") { unsafe linkat(number, from, number, to, 0) }
      unlink(from)
    }
  }

  borrowing func unlink(_ name: String) { _ = unsafe unlinkat(rawValue, name, 0) }
}

// MARK: A writer that changes nothing for others

extension FileDescriptor {
  /// A descriptor of our own for what another descriptor is open on, which never blocks a write and
  /// changes nothing for anybody else who shares it.
  ///
  /// O_NONBLOCK belongs to the open file description, which a shell's children and a parent share;
  /// setting it for us sets it for them, and restoring it later cannot undo what they met meanwhile.
  /// So a pipe or terminal is opened a second time through `/proc`, which makes a new description. A socket
  /// is only duplicated: it can be asked per call (`send`). Files and devices never make a writer wait.
  static func privateWriter(
    for descriptor: CInt, kind: FileStatus.Kind
  ) throws(SystemError) -> FileDescriptor {
    let waits = kind == .pipe || (kind == .characterDevice && isatty(descriptor) == 1)
    guard waits else { return try duplicate(of: descriptor) }
    do {
      return try FileDescriptor(opening: "/proc/self/fd/\(descriptor)", flags: O_WRONLY | O_NONBLOCK)
    } catch {
      // ENXIO: a pipe that nobody reads any more; that is the EPIPE of the first write.
      if error.number == ENXIO { throw SystemError(number: EPIPE, call: "open") }
      return try duplicateNonblocking(descriptor)
    }
  }

  private static func duplicate(of descriptor: CInt) throws(SystemError) -> FileDescriptor {
    FileDescriptor(owning: try SystemError.check("fcntl") { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) })
  }

  /// The last resort, without `/proc` or for a pipe of another user: the shared description is changed.
  private static func duplicateNonblocking(_ descriptor: CInt) throws(SystemError) -> FileDescriptor {
    let copy = try duplicate(of: descriptor)
    let number = copy.rawValue
    let flags = try SystemError.check("fcntl") { fcntl(number, F_GETFL) }
    _ = try SystemError.check("fcntl") { fcntl(number, F_SETFL, flags | O_NONBLOCK) }
    return copy
  }
}
