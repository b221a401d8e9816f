import Glibc

/// What other processes are called.
enum ProcessName {
  /// As `ps -o comm` shows it; nil for a process that is not there, or in another namespace (proc(5)).
  static func of(_ process: String) -> String? {
    guard let file = try? Descriptor(opening: "/proc/\(process)/comm", O_RDONLY) else { return nil }
    var buffer = [UInt8](repeating: 0, count: 64)
    guard let count = try? file.read(into: &buffer, at: 0, count: buffer.count) else { return nil }
    let name = String(decoding: buffer[..<count].prefix { $0 >= 0x20 && $0 != 0x7F }, as: UTF8.self)
    return name.isEmpty ? nil : name
  }
}
