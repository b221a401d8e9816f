internal import Glibc
internal import Synchronization

/// The file a body is written to before it is published, and how it gets its name or disappears.
///
/// It has no name while the body comes (`O_TMPFILE`), so that nothing is left of it however the process ends. Where the
/// file system has no such files it gets a hidden name (`HiddenName`).
struct WorkingFile: ~Copyable, Sendable {
  private let directory: FileDescriptor
  private(set) var file: FileDescriptor
  private let target: FileTarget
  private let placement: FileWriter.Placement
  /// Its hidden name, which is ours to remove; nil while it has none, and once it has the target's.
  private var name: String?
  private let permissions: UInt32

  /// False once a whole body could not be given a name: some sandboxes do not allow it.
  private static let canBeUnnamed = Atomic((try? FileStatus(path: "/proc/self/fd")) != nil)

  /// - Parameter isUnnamed: false makes the file as on a file system that has none without a name; for tests.
  init(_ target: FileTarget, _ placement: FileWriter.Placement, isUnnamed: Bool = true) throws(SystemError) {
    let directory = try FileDescriptor.directory(target.directory)
    let existing = try Self.judge(target, in: directory, placement)
    var name: String?
    if isUnnamed && Self.canBeUnnamed.load(ordering: .relaxed), let file = try directory.createUnnamed() {
      self.file = file
    } else {
      HiddenName.sweep(directory, at: target.directory)
      file = try HiddenName.create(for: target, in: directory, &name)
    }
    permissions = existing?.permissions ?? SystemText.newFilePermissions
    self.directory = directory
    self.target = target
    self.placement = placement
    self.name = name
  }

  /// Refuses early what `publish()` could only refuse after the whole body.
  ///
  /// A symbolic link stays: replaced, it would no longer lead where its owner wants; followed, it could lead anywhere.
  /// A device or pipe is refused too: a rename over `/dev/null` would destroy it.
  static func judge(
    _ target: FileTarget, in directory: borrowing FileDescriptor, _ placement: FileWriter.Placement
  ) throws(SystemError) -> FileStatus? {
    let existing = FileStatus(named: target.name, in: directory)
    switch (existing?.kind, placement) {
    case (nil, _): return nil
    case (.directory, _): throw SystemError(number: EISDIR, call: "open")
    case (_, .createNew): throw SystemError(number: EEXIST, call: "open")
    case (.regular, _): return existing
    case (.symlink, _): throw SystemError(number: ELOOP, call: "open")
    default: throw SystemError(number: ENOTSUP, call: "open")
    }
  }

  /// Has the disk set the body's blocks aside, so that a full disk shows before the body is fetched: half of
  /// what is left at most, as an announcement costs the origin nothing and others need the disk, too. File
  /// systems that cannot do it are left in peace.
  func reserve(_ bytes: Int64) throws(SystemError) {
    let free = file.freeBytes() ?? .max
    guard bytes <= free else { throw SystemError(number: ENOSPC, call: "fallocate") }
    guard bytes <= free / 2 else { return }
    do throws(SystemError) {
      try file.reserve(from: 0, bytes)
    } catch {
      // What the disk seems to have room for is tried.
      if error.number == EDQUOT { throw error }
    }
  }

  deinit { if let name { directory.unlink(name) } }

  // MARK: Publishing

  /// Makes the body of this length what the target's name leads to, or puts it behind what is there.
  consuming func publish(_ bytes: Int64) throws(SystemError) {
    try file.setPermissions(permissions)
    try file.flush()
    do throws(SystemError) {
      try takeTargetName(bytes)
      return
    } catch {
      guard error.number == EEXIST && placement != .createNew else { throw error }
    }
    // What is there may have become a link or a directory since the body began.
    _ = try Self.judge(target, in: directory, placement)
    if placement == .append {
      try append(bytes)
    } else {
      try replace()
    }
  }

  /// Puts the body behind what is there, whole or not at all, one after the other of those that append to the same file:
  /// `EWOULDBLOCK` where the holder of its lock puts nothing behind it for a second, as it has been stopped.
  private borrowing func append(_ bytes: Int64) throws(SystemError) {
    var target = try directory.openExisting(target.name)
    var seen: Int64?
    while true {
      do throws(SystemError) {
        try target.lock(patience: 1_000_000)
        break
      } catch {
        let now = try FileStatus(of: target).bytes
        guard error.number == EWOULDBLOCK, now != seen else { throw error }
        seen = now
      }
    }
    let end = try FileStatus(of: target).bytes
    do throws(SystemError) {
      try file.copy(bytes, to: target, at: end)
      try target.flush()
    } catch {
      try? target.truncate(to: end)
      throw error
    }
    try target.close()
  }

  /// The old file stays until the new one is on the disk, so that one of them is whole when the power fails too.
  private mutating func replace() throws(SystemError) {
    try file.sync()
    let hidden = if let name { name } else { try HiddenName.give(to: file, for: target, in: directory) }
    name = hidden
    try directory.rename(hidden, to: target.name)
    name = nil
  }

  /// EEXIST where the name is taken.
  private mutating func takeTargetName(_ bytes: Int64) throws(SystemError) {
    if let name {
      try directory.renameNew(name, to: target.name)
      return self.name = nil
    }
    do throws(SystemError) {
      try directory.link(descriptor: file.rawValue, as: target.name)
    } catch {
      guard [ENOENT, EACCES, EPERM, EXDEV].contains(error.number) else { throw error }
      Self.canBeUnnamed.store(false, ordering: .relaxed)
      try copyToNamedFile(bytes)
      try takeTargetName(bytes)
    }
  }

  private mutating func copyToNamedFile(_ bytes: Int64) throws(SystemError) {
    let named = try HiddenName.create(for: target, in: directory, &name)
    try file.copy(bytes, to: named, at: 0)
    try named.setPermissions(permissions)
    file = named
    try file.flush()
  }
}
