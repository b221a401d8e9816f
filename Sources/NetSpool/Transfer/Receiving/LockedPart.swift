internal import Glibc

/// The file of a part, which no other process writes to or removes: locked from when it is found by its name
/// until it has the target's, or is let go. Blocks.
struct LockedPart: ~Copyable, Sendable {
  let directory: FileDescriptor
  let file: FileDescriptor
  /// As it was found.
  let bytes: Int64
  private let target: FileTarget
  private let permissions: UInt32

  /// Makes the file where there is none. EEXIST: the one of that name is not ours; EWOULDBLOCK: it is being
  /// written.
  init(of target: FileTarget) throws(SystemError) {
    let directory = try FileDescriptor.directory(target.directory)
    let existing = try WorkingFile.judge(target, in: directory, .replace)
    let file = try Self.lock(target.partName, in: directory)
    let status = try FileStatus(of: file)
    let isOurs = status.bytes == 0 || PartNote(of: target, in: directory) != nil
    guard status.isRegular, status.owner == geteuid(), isOurs else {
      throw SystemError(number: EEXIST, call: "open")
    }
    self.file = file
    self.directory = directory
    self.target = target
    bytes = status.bytes
    permissions = existing?.permissions ?? SystemText.newFilePermissions
  }

  /// A program that is just being started may hold a copy of the descriptor of one that has let go; 0.1 s.
  private static let patience: Microseconds = 100_000

  /// A file that was published or removed between its opening and its lock is no part any more.
  private static func lock(
    _ name: String, in directory: borrowing FileDescriptor
  ) throws(SystemError) -> FileDescriptor {
    while true {
      let file = try FileDescriptor(
        opening: name, in: directory, flags: O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK)
      try file.lock(patience: Self.patience)
      if directory.isName(name, of: file) { return file }
    }
  }

  /// What says of which body it is; nil where nothing does.
  var note: PartNote? { PartNote(of: target, in: directory) }

  /// Gives the file its permissions and the target's name. The lock goes after that, with the value: another
  /// process that waits for the part finds out that it is none any more. ESTALE where a file has its name
  /// that is not this one.
  consuming func publish() throws(SystemError) {
    try file.setPermissions(permissions)
    try file.flush()
    // What is there may have become a link or a directory, or come since the body began: one of them is whole when the power fails.
    if try WorkingFile.judge(target, in: directory, .replace) != nil { try file.sync() }
    try expectName(target.partName)
    try directory.rename(target.partName, to: target.name)
    try expectName(target.name)
    directory.unlink(target.validatorName)
  }

  private borrowing func expectName(_ name: String) throws(SystemError) {
    guard directory.isName(name, of: file) else { throw SystemError(number: ESTALE, call: "renameat") }
  }

  /// Removes the file and its note; another file that has taken the name stays.
  borrowing func remove() {
    guard directory.isName(target.partName, of: file) else { return }
    directory.unlink(target.partName)
    directory.unlink(target.validatorName)
  }
}
