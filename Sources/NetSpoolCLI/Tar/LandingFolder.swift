import Glibc

/// The folder beside a tar where bodies land before they are put into it. It is locked for as long as a job lasts, so that
/// no second one writes the same tar; what a killed job left in it goes when the next one begins.
final class LandingFolder: Sendable {
  static let ending = ".netspool-bodies"

  let path: String
  private let lock: Int32

  /// Nil when another process has it.
  init?(beside tar: String) throws(IOFailure) {
    path = tar + Self.ending
    while true {
      guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .last("make the folder", path) }
      let number = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
      // The one who had it may remove it just now.
      if number < 0, errno == ENOENT { continue }
      guard number >= 0 else { throw .last("open", path) }
      guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
        close(number)
        return nil
      }
      if FileFacts(path: path) == Descriptor(borrowing: number, named: path).status {
        lock = number
        break
      }
      close(number)
    }
    for name in try Self.names(in: path) where Self.isOurs(name) { unsafe _ = unlink("\(path)/\(name)") }
  }

  deinit { close(lock) }

  /// Removes the folder. Nothing may land any more.
  func remove() { unsafe _ = rmdir(path) }
  func path(for item: FetchItem) -> String { "\(path)/\(item.id)" }

  private static func isOurs(_ name: String) -> Bool {
    name.utf8.allSatisfy { $0 &- 0x30 < 10 } || name.contains("netspool")
  }

  /// True if nothing is in a folder, or there is none. Reads no more than the first names.
  static func isEmpty(_ folder: String) -> Bool {
    guard let directory = unsafe opendir(folder) else { return true }
    defer { unsafe _ = closedir(directory) }
    var count = 0
    while count < 3, let _ = unsafe readdir(directory) { count += 1 }
    // Each has itself and the one above.
    return count < 3
  }

  static func names(in folder: String) throws(IOFailure) -> [String] {
    guard let directory = unsafe opendir(folder) else { throw .last("read the folder", folder) }
    defer { unsafe _ = closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
