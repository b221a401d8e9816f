internal import Glibc

/// Which file system a path lies on, told without asking that file system: it may be one that answers nobody any more.
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
  static func current() -> MountTable { MountTable(report: SystemText.readAll("/proc/self/mountinfo") ?? "") }

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

/// The devices of the files that one loop has written. Asked for each file, so the table is read every few seconds only.
final class FileDevices {
  private static let freshTime: Microseconds = 5_000_000
  private var table: (mounts: MountTable, readAt: Microseconds)?

  init() {}

  func device(of path: String) -> MountTable.Device {
    let now = MonotonicClock.now
    if let table, now - table.readAt < Self.freshTime { return table.mounts.device(of: path) }
    let mounts = MountTable.current()
    table = (mounts, now)
    return mounts.device(of: path)
  }
}
