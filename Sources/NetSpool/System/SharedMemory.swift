internal import Glibc
internal import Synchronization

/// A file in the machine's memory that processes of one user share by its name: a writer to a map of it waits for no
/// disk, whatever hangs. It goes with the last process that lets go of it. What is left by one that was killed, or did not
/// let go, is the next one's that asks for the name, or goes when any process asks for a name of the same kind.
final class SharedMemory: Sendable {
  private let directory: FileDescriptor
  let file: FileDescriptor
  private let name: String
  private let generation = ForkGuard.begin()
  private let isLetGo = Atomic(false)
  private static let triesMax = 100

  /// Opens it, or makes it, of zeros. Throws where there is no such directory or no room, and when the name is another
  /// user's.
  ///
  /// - Parameter path: where the system keeps such files (shm_overview(7)).
  init(_ kind: String, named name: String, bytes: Int, in path: String = "/dev/shm") throws(SystemError) {
    let prefix = "netspool-\(kind)-\(geteuid())-"
    self.name = prefix + name
    directory = try FileDescriptor.directory(path)
    for other in SystemText.names(inDirectory: path) where other.hasPrefix(prefix) && other != self.name {
      Self.removeUnused(other, in: directory)
    }
    file = try Self.open(self.name, in: directory)
    // A hole would be SIGBUS when there is no memory left.
    try file.reserve(from: 0, Int64(bytes))
    if try FileStatus(of: file).bytes < Int64(bytes) { try file.truncate(to: Int64(bytes)) }
  }

  deinit { letGo() }

  /// Removes the name, unless another process has it: what is mapped stays as it is.
  func letGo() {
    // A child of fork(2) has its parent's lock. Whoever was refused the exclusive one has none any more, and the name may
    // be another file's by now.
    guard ForkGuard.generation == generation, !isLetGo.exchange(true, ordering: .relaxed),
      file.tryLock()
    else { return }
    directory.unlink(name)
  }

  /// Opens the file: its users have a shared lock of it, and who removes it an exclusive one.
  private static func open(
    _ name: String, in directory: borrowing FileDescriptor
  ) throws(SystemError) -> FileDescriptor {
    for _ in 0..<triesMax {
      let file = try FileDescriptor(
        opening: name, in: directory, flags: O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK)
      let status = try FileStatus(of: file)
      guard status.isRegular, status.owner == geteuid(), status.permissions & 0o077 == 0 else {
        throw SystemError(number: EPERM, call: "openat")
      }
      if flock(file.rawValue, LOCK_SH | LOCK_NB) == 0, directory.isName(name, of: file) { return file }
      usleep(100)  // it is being removed
    }
    throw SystemError(number: EWOULDBLOCK, call: "flock")
  }

  private static func removeUnused(_ name: String, in directory: borrowing FileDescriptor) {
    guard
      let file = try? FileDescriptor(opening: name, in: directory, flags: O_RDWR | O_NOFOLLOW | O_NONBLOCK),
      file.tryLock(), directory.isName(name, of: file)
    else { return }
    directory.unlink(name)
  }
}
