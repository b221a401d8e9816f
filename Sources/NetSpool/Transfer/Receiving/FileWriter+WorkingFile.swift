internal import Glibc

/// The file a body is written to before it is published, and how it gets its name or disappears.
struct WorkingFile: ~Copyable, Sendable {
  private let directory: SystemFile
  private(set) var file: SystemFile
  private let target: FileTarget
  private let placement: FileWriter.Placement
  private let name: String
  /// The length to cut an appended file back to; nil when the file is ours to remove.
  let oldBytes: Int64?
  /// What the published file gets; nil when it has them.
  private let permissions: UInt32?
  private var isPublished = false

  init(_ target: FileTarget, _ placement: FileWriter.Placement) throws(SystemFile.CallFailure) {
    let directory = try SystemFile.directory(target.directory)
    let existing = try Self.judge(directory.status(of: target.name), placement)
    let isExtended = placement == .append && existing != nil
    let name = placement == .append ? target.name : target.makeWorkingName()
    let file = isExtended ? try directory.openExisting(name) : try directory.createNew(name)
    oldBytes = isExtended ? try file.status().bytes : nil
    permissions = isExtended ? nil : existing?.permissions ?? SystemFile.newFilePermissions
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
    _ existing: SystemFile.Status?, _ placement: FileWriter.Placement
  ) throws(SystemFile.CallFailure) -> SystemFile.Status? {
    switch (existing?.kind, placement) {
    case (nil, _): return nil
    case (.directory, _): throw SystemFile.CallFailure(number: EISDIR)
    case (_, .createNew): throw SystemFile.CallFailure(number: EEXIST)
    case (.regular, _): return existing
    case (.symlink, .replace): return nil
    case (.symlink, _): throw SystemFile.CallFailure(number: ELOOP)
    default: throw SystemFile.CallFailure(number: ENOTSUP)
    }
  }

  /// Has the disk set the body's blocks aside, so that a full disk shows before the body is fetched, not after.
  /// File systems that cannot do it are left in peace.
  func reserve(_ bytes: Int64) throws(SystemFile.CallFailure) {
    do throws(SystemFile.CallFailure) {
      try file.reserve(from: oldBytes ?? 0, bytes)
    } catch {
      if error.number == ENOSPC || error.number == EDQUOT { throw error }
    }
  }

  deinit {
    guard !isPublished else { return }
    if let oldBytes { try? file.truncate(to: oldBytes) } else { directory.unlink(name) }
  }

  consuming func publish() throws(SystemFile.CallFailure) {
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
