internal import CNetSpoolShims
internal import Glibc

/// Calls that name a file inside an open directory, so that a directory renamed meanwhile is still the same one.
extension FileDescriptor {
  /// Opens a directory to name files in; needs no permission to list it.
  static func directory(_ path: String) throws(SystemError) -> FileDescriptor {
    try FileDescriptor(opening: path, flags: cnetspool_o_path | O_DIRECTORY)
  }

  /// Creates a file that no other process has, readable by its owner only; a taken name, even a symlink's, is EEXIST.
  borrowing func createNew(_ name: String) throws(SystemError) -> FileDescriptor {
    try FileDescriptor(opening: name, in: self, flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
  }

  /// Opens an existing file to write to. Never follows a symlink (ELOOP) and never waits for a pipe's reader.
  borrowing func openExisting(_ name: String) throws(SystemError) -> FileDescriptor {
    try FileDescriptor(opening: name, in: self, flags: O_RDWR | O_NOFOLLOW | O_NONBLOCK)
  }

  /// Creates a file that has no name and is gone with its last descriptor, readable by its owner only; nil where the
  /// file system has no such files.
  borrowing func createUnnamed() throws(SystemError) -> FileDescriptor? {
    do {
      return try FileDescriptor(opening: ".", in: self, flags: O_RDWR | cnetspool_o_tmpfile)
    } catch  where [ENOTSUP, EISDIR, EINVAL, ENOSYS].contains(error.number) {
      return nil
    }
  }

  /// Gives a file that was created without a name one in this directory; a taken name is EEXIST.
  borrowing func link(descriptor: Int32, as name: String) throws(SystemError) {
    let path = "/proc/self/fd/\(descriptor)"
    _ = try check("linkat") { unsafe linkat(AT_FDCWD, path, $0, name, AT_SYMLINK_FOLLOW) }
  }

  /// Gives `from` the name `to` in one step, replacing what is there, a symlink itself included.
  borrowing func rename(_ from: String, to: String) throws(SystemError) {
    _ = try check("renameat") { unsafe renameat($0, from, $0, to) }
  }

  /// The same, but a taken name is EEXIST.
  borrowing func renameNew(_ from: String, to: String) throws(SystemError) {
    do {
      _ = try check("renameat2") { unsafe cnetspool_rename_new($0, from, to) }
    } catch  where error.number == EINVAL {
      // A file system without that flag has links instead, and a link never replaces.
      _ = try check("linkat") { unsafe linkat($0, from, $0, to, 0) }
      unlink(from)
    }
  }

  /// True when the name leads to this very file.
  borrowing func isName(_ name: String, of file: borrowing FileDescriptor) -> Bool {
    guard let status = try? FileStatus(of: file) else { return false }
    return FileStatus(named: name, in: self)?.identity == status.identity
  }

  borrowing func unlink(_ name: String) { _ = unsafe unlinkat(rawValue, name, 0) }
}

/// Locks that go with the process, however it ends: the holder of a file's lock knows that no other is at work on it.
extension FileDescriptor {
  /// Locks the file for this descriptor alone. False: another has it, or the file system has no locks.
  borrowing func tryLock() -> Bool { flock(rawValue, LOCK_EX | LOCK_NB) == 0 }

  /// The same, and waits for its turn, but no longer than told: `EWOULDBLOCK` then. Who has it may be stopped.
  borrowing func lock(patience: Microseconds) throws(SystemError) {
    let deadline = MonotonicClock.now + patience
    while flock(rawValue, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR, MonotonicClock.now < deadline else {
        throw SystemError(number: errno, call: "flock")
      }
      usleep(1_000)
    }
  }
}

extension FileDescriptor {
  /// Has the file system say now what it says at a close: over NFS a full disk shows there.
  borrowing func flush() throws(SystemError) {
    var copy = try Self.duplicate(of: rawValue)
    try copy.close()
  }

  /// Returns when the content is on the disk (`fdatasync`).
  borrowing func sync() throws(SystemError) {
    _ = try check("fdatasync") { fdatasync($0) }
  }

  /// Copies the first `bytes` bytes to `offset` and on in another file.
  borrowing func copy(
    _ bytes: Int64, to other: borrowing FileDescriptor, at offset: Int64
  ) throws(SystemError) {
    let (source, sink) = (rawValue, other.rawValue)
    _ = try SystemError.check("lseek") { lseek(sink, off_t(offset), SEEK_SET) }
    var done: off_t = 0
    while done < bytes {
      let rest = Int(bytes - Int64(done))
      let count = try SystemError.check("sendfile") { unsafe sendfile(sink, source, &done, rest) }
      guard count > 0 else { throw SystemError(number: EIO, call: "sendfile") }
    }
  }
}
