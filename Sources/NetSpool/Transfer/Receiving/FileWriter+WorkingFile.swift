internal import Glibc

/// The file a body is written to before it is published, and how it gets its name or disappears.
struct WorkingFile: ~Copyable, Sendable {
  private let directory: FileDescriptor
  private(set) var file: FileDescriptor
  private let target: FileTarget
  private let placement: FileWriter.Placement
  private let name: String
  /// The length to cut an appended file back to; nil when the file is ours to remove.
  let oldBytes: Int64?
  /// What the published file gets; nil when it has them.
  private let permissions: UInt32?
  private var isPublished = false

  init(_ target: FileTarget, _ placement: FileWriter.Placement) throws(SystemError) {
    let directory = try FileDescriptor.directory(target.directory)
    let existing = try Self.judge(FileStatus(named: target.name, in: directory), placement)
    let isExtended = placement == .append && existing != nil
    let name = placement == .append ? target.name : target.makeWorkingName()
    let file = isExtended ? try directory.openExisting(name) : try directory.createNew(name)
    oldBytes = isExtended ? try FileStatus(of: file).bytes : nil
    permissions = isExtended ? nil : existing?.permissions ?? SystemText.newFilePermissions
    self.directory = directory
    self.file = file
    self.target = target
    self.placement = placement
    self.name = name
  }

  /// Refuses early what `publish()` could only refuse after the whole body.
  ///
  /// A device or pipe is refused too: a rename over `/dev/null` would destroy it.
  private static func judge(
    _ existing: FileStatus?, _ placement: FileWriter.Placement
  ) throws(SystemError) -> FileStatus? {
    switch (existing?.kind, placement) {
    case (nil, _): return nil
    case (.directory, _): throw SystemError(number: EISDIR, call: "open")
    case (_, .createNew): throw SystemError(number: EEXIST, call: "open")
    case (.regular, _): return existing
    case (.symlink, .replace): return nil
    case (.symlink, _): throw SystemError(number: ELOOP, call: "open")
    default: throw SystemError(number: ENOTSUP, call: "open")
    }
  }

  /// Has the disk set the body's blocks aside, so that a full disk shows before the body is fetched, not after.
  /// File systems that cannot do it are left in peace.
  func reserve(_ bytes: Int64) throws(SystemError) {
    do throws(SystemError) {
      try file.reserve(from: oldBytes ?? 0, bytes)
    } catch {
      if error.number == ENOSPC || error.number == EDQUOT { throw error }
    }
  }

  deinit {
    guard !isPublished else { return }
    if let oldBytes { try? file.truncate(to: oldBytes) } else { directory.unlink(name) }
  }

  consuming func publish() throws(SystemError) {
    if let permissions { try file.setPermissions(permissions) }
    try file.close()
    switch placement {
    case .append: break
    case .replace: try directory.rename(name, to: target.name)
    case .createNew: try directory.renameNew(name, to: target.name)
    }
    isPublished = true
  }
}
