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

/// Decides when a file is written past the page cache (`O_DIRECT`).
///
/// That saves the copy into the cache, and a long body does not push a service's working set out of memory.
/// It pays only for long bodies, and works only where memory, offset and length are whole pages; the rest,
/// a body's tail above all, is written the ordinary way.
struct DirectWriting: Sendable {
  /// 8 MiB: bodies known to be at least so long are written directly from the start.
  static let bytesMin: Int64 = 8 << 20
  /// 1 MiB: a body of unknown length is taken for a long one once it has come so far.
  static let bytesMinWhenUnknown: Int64 = 1 << 20

  /// Direct from this offset on; nil: never.
  private var threshold: Int64?
  private(set) var isOn = false

  init(bytesExpected: Int64?, isAllowed: Bool) {
    guard isAllowed else { return }
    if let bytesExpected {
      threshold = bytesExpected >= Self.bytesMin ? 0 : nil
    } else {
      threshold = Self.bytesMinWhenUnknown
    }
  }

  /// Sets the file's flag for the next write, and answers how many of `count` bytes that write should have.
  mutating func prepare(_ file: borrowing FileDescriptor, offset: Int64, start: Int, count: Int) -> Int {
    let pages = wholePages(offset: offset, start: start, count: count)
    if isOn != (pages > 0) { turn(on: !isOn, file) }
    return isOn ? pages : count
  }

  /// The file system has none: never asked again for this file.
  mutating func refuse(_ file: borrowing FileDescriptor) {
    turn(on: false, file)
    isOn = false
    threshold = nil
  }

  private mutating func turn(on: Bool, _ file: borrowing FileDescriptor) {
    do {
      try file.setDirect(on)
      isOn = on
    } catch {
      threshold = nil
    }
  }

  /// How many of the bytes a direct write can take; `start` is where they begin in page-aligned memory.
  private func wholePages(offset: Int64, start: Int, count: Int) -> Int {
    let page = AlignedBuffer.pageBytes
    guard let threshold, offset >= threshold else { return 0 }
    guard offset % Int64(page) == 0 && start % page == 0 else { return 0 }
    return count / page * page
  }
}
