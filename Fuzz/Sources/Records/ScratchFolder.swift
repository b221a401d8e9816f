internal import Glibc

/// A folder in memory, gone with its last reference.
final class ScratchFolder: Sendable {
  let path: String

  init() {
    var template = Array("/dev/shm/netspool-fuzz-XXXXXX".utf8CString)
    guard let path = unsafe mkdtemp(&template).map({ unsafe String(cString: $0) }) else {
      broken("a folder can be made, errno \(errno)")
    }
    self.path = path
  }

  deinit { Self.remove(path) }

  private static func remove(_ path: String) {
    for name in names(in: path) { remove("\(path)/\(name)") }
    unsafe Glibc.remove(path)
  }

  private static func names(in path: String) -> [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  func names(in folder: String) -> [String] { Self.names(in: "\(path)/\(folder)") }

  func makeFolder(_ name: String) { unsafe mkdir("\(path)/\(name)", 0o700) }

  func write(_ bytes: [UInt8], to name: String) {
    guard let file = unsafe fopen("\(path)/\(name)", "w") else { broken("a file can be written") }
    unsafe fwrite(bytes, 1, bytes.count, file)
    unsafe fclose(file)
  }

  func read(_ name: String) -> [UInt8] {
    guard let file = unsafe fopen("\(path)/\(name)", "r") else { return [] }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = unsafe fread(&chunk, 1, chunk.count, file), count > 0 {
      bytes += chunk.prefix(count)
    }
    return bytes
  }
}
