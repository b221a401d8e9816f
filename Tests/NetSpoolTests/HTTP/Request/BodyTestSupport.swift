import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

/// What tests do to a file that is to be sent.
extension TestFolder {
  /// Moves a file's time, as an edit would: the clock of the file system is too coarse to rely on.
  func touch(_ name: String, seconds: Int) throws {
    var times = utimbuf(actime: seconds, modtime: seconds)
    let result = unsafe utime(self[name], &times)
    try #require(result == 0)
  }

  func move(_ name: String, to other: String) throws {
    let result = unsafe rename(self[name], self[other])
    try #require(result == 0)
  }

  /// Puts a FIFO where a file was.
  func replaceByFIFO(_ name: String) throws {
    try remove(name)
    let result = unsafe mkfifo(self[name], 0o600)
    try #require(result == 0)
  }
}

/// Everything a source gives, asked for in buffers of this size.
func drain(_ source: any BodySource, bufferBytes: Int = 65_536) throws -> [UInt8] {
  var output: [UInt8] = []
  while true {
    let next = try read(source, bufferBytes)
    guard case .bytes = next.read else { return output }
    output += next.bytes
  }
}

/// One `write(2)`, or `pwrite(2)` at an offset.
func put(_ bytes: [UInt8], _ file: borrowing FileDescriptor, at offset: Int64? = nil) throws -> Int {
  let raw = unsafe bytes.span.bytes
  guard let offset else { return try file.write(raw) }
  return try file.write(raw, from: 0, count: raw.byteCount, at: offset)
}

/// One read of at most so many bytes.
func read(_ source: any BodySource, _ count: Int) throws -> (read: BodyRead, bytes: [UInt8]) {
  var buffer = [UInt8](repeating: 0, count: count)
  let read = unsafe try buffer.withUnsafeMutableBytes { unsafe try source.read(into: $0) }
  guard case .bytes(let count) = read else { return (read, []) }
  return (read, Array(buffer[..<count]))
}

/// The failure a body ends with.
func failure(of work: () throws -> Void) -> NetworkError? {
  do {
    try work()
    return nil
  } catch { return error as? NetworkError }
}

/// Runs a script with `sh` in a directory of its own, and answers what it printed; its standard input is empty.
func runShell(_ script: String) throws -> [UInt8] {
  let directory = try TestFolder()
  let path = try directory.write("script", "exec < /dev/null\ncd \(directory.path)\n\(script)")
  let result = try ChildProcess.run(["/bin/sh", path])
  #expect(
    result.exit == .status(0), "\(script)\n\(result.exit): \(String(decoding: result.errors, as: UTF8.self))")
  return result.output
}
