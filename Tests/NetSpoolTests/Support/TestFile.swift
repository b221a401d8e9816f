import Glibc
import Testing

/// A file as a whole: what a test writes, and what it finds.
enum TestFile {
  struct Missing: Error { let path: String }

  static func write(_ text: String, to path: String) throws {
    guard let stream = unsafe fopen(path, "w") else { throw Missing(path: path) }
    unsafe fputs(text, stream)
    unsafe fclose(stream)
  }

  /// Whether its bytes hold a text.
  static func at(_ path: String, holds text: String) throws -> Bool {
    guard let stream = unsafe fopen(path, "r") else { throw Missing(path: path) }
    defer { unsafe fclose(stream) }
    var bytes: [UInt8] = []
    while case let byte = unsafe getc(stream), byte != EOF { bytes.append(UInt8(byte)) }
    return bytes.contains(Array(text.utf8))
  }
}
