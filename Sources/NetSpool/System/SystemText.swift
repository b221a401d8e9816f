internal import Glibc

/// Small texts and lists that the system keeps in files.
enum SystemText {
  /// All of a file that the kernel makes up as it is read, up to 16 MiB.
  static func read(_ path: String) -> String? {
    guard let file = try? FileDescriptor(opening: path, flags: O_RDONLY) else { return nil }
    return (try? file.bytes(atMost: 16 << 20)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The directory that relative paths begin in; `/` when it is gone.
  static var workingDirectory: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard unsafe getcwd(&buffer, buffer.count) != nil else { return "/" }
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// The names in a directory, in no order.
  static func names(inDirectory path: String) -> [String] {
    guard let stream = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  /// All descriptors of this process.
  static func openDescriptors() -> [Int32] { names(inDirectory: "/proc/self/fd").compactMap { Int32($0) } }

  /// The permissions a program's new files get: 0666 without its umask, as it was when first asked.
  ///
  /// Read from the kernel's report, because `umask(2)` can only be asked by changing it, and another
  /// thread's file created in between would get the wrong permissions.
  static let newFilePermissions: UInt32 = 0o666 & ~(processMask() ?? 0o077)

  private static func processMask() -> UInt32? {
    guard let report = read("/proc/self/status") else { return nil }
    for line in report.split(separator: "\n") where line.hasPrefix("Umask:") {
      return UInt32(line.dropFirst(6).filter { !$0.isWhitespace }, radix: 8)
    }
    return nil
  }
}
