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
    owner = status.st_uid
    permissions = UInt32(status.st_mode & 0o777)
    bytes = Int64(status.st_size)
    modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
  }

  /// True when a library may be told to read what a path leads to on the loop thread: a pipe or a device
  /// might never have an end. What is missing is left to its reader. Looks, and reads a byte: where a file
  /// system hangs, the caller waits, and not the loop.
  static func mayBeLent(_ path: String, as kind: Kind = .regular) -> Bool {
    guard let status = try? FileStatus(path: path) else { return true }
    guard status.kind == kind else { return false }
    if kind == .regular { _ = try? FileDescriptor(opening: path, flags: O_RDONLY).bytes(atMost: 1) }
    return true
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

/// The file system that a path lies on, told without asking that file system: it may be one that does not answer any more.
///
/// Symbolic links are not followed, as that would ask it: what a link leads to counts as the link's own.
struct MountTable: Sendable {
  /// The numbers of a device (`st_dev`), as one.
  typealias Device = UInt64

  private var mounts: [(place: String, device: Device)] = []

  /// Reads a report in the form of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
  init(report: String) {
    for line in report.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 5 else { continue }
      let numbers = words[2].split(separator: ":").compactMap { Device($0) }
      guard numbers.count == 2 else { continue }
      mounts.append((Self.unescaped(words[4]), numbers[0] << 32 | numbers[1]))
    }
  }

  /// As it is now.
  static func current() -> MountTable { MountTable(report: SystemText.read("/proc/self/mountinfo") ?? "") }

  /// The device of the innermost mount above a path; the last one made counts, which covers the others. 0: not known.
  func device(of path: String) -> Device {
    let path = Self.absolute(path)
    var found: (length: Int, device: Device) = (-1, 0)
    for mount in mounts where mount.place.utf8.count >= found.length && Self.contains(mount.place, path) {
      found = (mount.place.utf8.count, mount.device)
    }
    return found.device
  }

  private static func contains(_ place: String, _ path: String) -> Bool {
    if place == "/" || place == path { return true }
    return path.utf8.starts(with: place.utf8)
      && path.utf8.dropFirst(place.utf8.count).first == UInt8(ascii: "/")
  }

  /// Without `.`, `..` and doubled slashes, by the text alone.
  private static func absolute(_ path: String) -> String {
    let whole = path.hasPrefix("/") ? path : SystemText.workingDirectory + "/" + path
    var parts: [Substring] = []
    for part in whole.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }

  /// Blanks and backslashes are written as three octal digits.
  private static func unescaped(_ text: Substring) -> String {
    guard text.contains("\\") else { return String(text) }
    var bytes: [UInt8] = []
    let all = Array(text.utf8)
    var index = 0
    while index < all.count {
      if all[index] == UInt8(ascii: "\\"), index + 3 < all.count,
        let byte = UInt8(String(decoding: all[(index + 1)...(index + 3)], as: UTF8.self), radix: 8)
      {
        bytes.append(byte)
        index += 4
      } else {
        bytes.append(all[index])
        index += 1
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The devices of the files that one loop has written. Asked for each file, so the table is read every few seconds only, and
/// the folder of the last file, which mostly is that of the next, is remembered.
final class FileDevices {
  private static let freshTime: Microseconds = 5_000_000
  private var table: (mounts: MountTable, readAt: Microseconds)?
  private var last: (folder: Substring, device: MountTable.Device)?

  func device(of path: String) -> MountTable.Device {
    let folder = path[..<(path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)]
    let mounts = mounts(MonotonicClock.now)
    if let last, last.folder == folder { return last.device }
    let device = mounts.device(of: path)
    last = (Substring(String(folder)), device)
    return device
  }

  private func mounts(_ now: Microseconds) -> MountTable {
    if let table, now - table.readAt < Self.freshTime { return table.mounts }
    let mounts = MountTable.current()
    (table, last) = ((mounts, now), nil)
    return mounts
  }
}
