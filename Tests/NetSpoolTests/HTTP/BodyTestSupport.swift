import Glibc
import Testing

@testable import NetSpool

/// SplitMix64: the same numbers for the same seed, everywhere.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}

/// A directory of one test's own; gone with it.
final class ScratchDirectory {
  let path: String

  init() throws {
    var template = Array("/tmp/netspool-bodies-XXXXXX".utf8CString)
    let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
      unsafe mkdtemp(buffer.baseAddress!).map { unsafe String(cString: $0) }
    }
    path = try #require(made)
  }

  deinit {
    for name in names { _ = unsafe unlink("\(path)/\(name)") }
    _ = unsafe rmdir(path)
  }

  private var names: [String] = []

  /// Writes a file and answers its path; an existing one keeps its inode.
  @discardableResult
  func write(_ name: String, _ bytes: [UInt8], flags: Int32 = O_TRUNC) throws -> String {
    let file = try FileDescriptor(opening: "\(path)/\(name)", flags: O_WRONLY | O_CREAT | flags)
    var written = 0
    while written < bytes.count { written += try put(Array(bytes[written...]), file) }
    names.append(name)
    return "\(path)/\(name)"
  }

  /// Moves a file's time, as an edit would: the clock of the file system is too coarse to rely on.
  func touch(_ name: String, seconds: Int) throws {
    let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
    let result = unsafe utimensat(AT_FDCWD, "\(path)/\(name)", times, 0)
    try #require(result == 0)
  }

  func move(_ name: String, to other: String) throws {
    let result = unsafe rename("\(path)/\(name)", "\(path)/\(other)")
    try #require(result == 0)
  }

  /// Puts a FIFO where a file was.
  func replaceByFIFO(_ name: String) throws {
    try remove(name)
    let result = unsafe mkfifo("\(path)/\(name)", 0o600)
    try #require(result == 0)
  }

  func remove(_ name: String) throws {
    let result = unsafe unlink("\(path)/\(name)")
    try #require(result == 0)
  }

  func read(_ name: String) throws -> [UInt8] {
    names.append(name)
    let path = "\(path)/\(name)"
    let source = FileSource(path: path, promised: FileVersion(try FileStatus(path: path)))
    defer { source.close() }
    try source.open()
    return try drain(source)
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
  return try file.write(raw, at: offset)
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
  } catch {
    return error as? NetworkError
  }
}

/// Runs a script with `sh` in a directory of its own, and answers what it printed; `/dev/null` is its
/// standard input.
func runShell(_ script: String) throws -> [UInt8] {
  let directory = try ScratchDirectory()
  let path = try directory.write("script", Array("cd \(directory.path)\n\(script)".utf8))
  try directory.write("out", [])
  let status = try spawn("/bin/sh", [path], output: "\(directory.path)/out")
  #expect(status == 0, "sh ended with wait status \(status)")
  return try directory.read("out")
}

private func spawn(_ program: String, _ arguments: [String], output: String) throws -> Int32 {
  var actions = unsafe posix_spawn_file_actions_t()
  unsafe posix_spawn_file_actions_init(&actions)
  defer { unsafe posix_spawn_file_actions_destroy(&actions) }
  unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
  unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY, 0)
  let words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
  defer { unsafe words.forEach { unsafe free($0) } }
  var pid: pid_t = 0
  try #require(unsafe posix_spawn(&pid, program, &actions, nil, words, nil) == 0)
  var status: Int32 = 0
  while unsafe waitpid(pid, &status, 0) < 0 && errno == EINTR {}
  return status
}
