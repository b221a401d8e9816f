#if DEBUG
import Glibc

/// Files, without Foundation.
enum CrashFiles {
  static func read(_ path: String) -> [UInt8] {
    guard let file = unsafe fopen(path, "r") else { return [] }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = unsafe fread(&chunk, 1, chunk.count, file)
      if count == 0 { return bytes }
      bytes += chunk.prefix(count)
    }
  }

  static func write(_ bytes: [UInt8], to path: String) throws {
    guard let file = unsafe fopen(path, "w") else { throw CrashError("open \(path): errno \(errno)") }
    defer { unsafe fclose(file) }
    guard unsafe fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw CrashError("write \(path)") }
  }

  static func make(_ path: String) throws {
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw CrashError("mkdir \(path): errno \(errno)")
    }
  }

  /// One write(2): a process that is killed says a line or does not.
  static func say(_ line: String, to descriptor: Int32 = STDOUT_FILENO) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe Glibc.write(descriptor, bytes, bytes.count)
  }
}
#endif
