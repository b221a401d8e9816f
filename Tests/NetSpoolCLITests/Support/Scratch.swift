import Glibc

@testable import NetSpoolCLI

/// A folder of the test's own, removed with everything in it.
final class Scratch: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/netspool-cli-XXXXXX".utf8CString)
    let made = unsafe template.withUnsafeMutableBufferPointer { unsafe mkdtemp($0.baseAddress!) != nil }
    guard made else { throw IOFailure.last("make", "/tmp") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { Self.remove(path) }

  subscript(_ name: String) -> String { "\(path)/\(name)" }

  @discardableResult
  func write(_ name: String, _ text: String) throws -> String {
    try write(name, Array(text.utf8))
  }

  @discardableResult
  func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    let file = try OutputFile.create(self[name])
    try file.write(bytes)
    try file.flush()
    return self[name]
  }

  func read(_ name: String) throws -> String {
    let lines = LineReader(try Descriptor(opening: self[name], O_RDONLY), lineBytesMax: 1 << 20)
    var text = ""
    while case .line(let range) = try lines.next() {
      text += String(decoding: lines[range], as: UTF8.self) + (lines.lastLineWasTerminated ? "\n" : "")
    }
    return text
  }

  private static func remove(_ path: String) {
    if let directory = unsafe opendir(path) {
      while let entry = unsafe readdir(directory) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
          unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if name != "." && name != ".." { remove("\(path)/\(name)") }
      }
      unsafe closedir(directory)
    }
    unsafe Glibc.remove(path)
  }
}
