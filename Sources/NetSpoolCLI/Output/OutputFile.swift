import Glibc

/// A file that is written in pieces of 64 KiB. What was not flushed is lost with the process.
final class OutputFile {
  static let bufferBytes = 65_536

  private let descriptor: Descriptor
  private var buffer: [UInt8] = []

  init(_ descriptor: consuming Descriptor) {
    self.descriptor = descriptor
    buffer.reserveCapacity(Self.bufferBytes)
  }

  /// Begins an empty file for its owner's eyes only, as URLs may hold secrets, or writes to standard output for `-`. A plain
  /// file is locked for as long as it is open: two processes would cut off and tear each other's lines.
  /// - Parameter keeping: what it holds stays.
  static func create(_ path: String, keeping: Bool = false) throws(IOFailure) -> OutputFile {
    if path == "-" { return OutputFile(Descriptor(borrowing: 1, named: "standard output")) }
    let descriptor = try Descriptor(opening: path, O_WRONLY | O_CREAT | O_APPEND, mode: 0o600)
    let isPlain = descriptor.status?.isPlainFile == true
    // Devices and pipes may be shared. A file system without locks has none to wait for.
    if isPlain { try lock(descriptor, path) }
    if isPlain, !keeping { try descriptor.resize(to: 0) }
    // One that was there may have had another mode. One of somebody else's stays as it is.
    if isPlain { _ = fchmod(descriptor.number, 0o600) }
    return OutputFile(descriptor)
  }

  /// Not at the first refusal: a program that is just being started may hold a copy of the descriptor of one who has closed it.
  private static func lock(_ descriptor: borrowing Descriptor, _ path: String) throws(IOFailure) {
    for attempt in 1...10 {
      if flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { return }
      if attempt == 10 { throw .last("write", path) }
      usleep(20_000)
    }
  }

  /// Cuts off what is behind this many bytes, and what was not flushed.
  func cut(to bytes: Int) throws(IOFailure) {
    buffer.removeAll(keepingCapacity: true)
    try descriptor.resize(to: bytes)
  }

  /// Goes on after the results that an earlier run wrote.
  func resume(after earlier: ResultsReader.Resumption) throws(IOFailure) {
    try cut(to: earlier.bytesKept)
    if earlier.lacksNewline { try write("\n".utf8) }
  }

  func write(_ bytes: some Sequence<UInt8>) throws(IOFailure) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.bufferBytes { try flush() }
  }

  /// Hands everything to the system. After a failure the rest is dropped: writing it once more could only
  /// tear the lines apart.
  func flush() throws(IOFailure) {
    defer { buffer.removeAll(keepingCapacity: true) }
    if !buffer.isEmpty { try descriptor.write(buffer) }
  }

  /// Flushes, and returns when all is on the disk.
  func sync() throws(IOFailure) {
    try flush()
    guard fsync(descriptor.number) == 0 else { throw .last("write", descriptor.path) }
  }
}

/// Writes failed lines so that they can be the next run's list: URL, and tab and name if there is one.
extension OutputFile {
  func write(url: String, output: String?, _ options: LineOptions = LineOptions()) throws(IOFailure) {
    try write(LineForm.line(url, output, options) + [0x0A])
  }

  /// As it stood in the list, byte for byte, or as a JSON object where it stood in a CSV file. What is no text has a comment
  /// before it that says where it stood; of a long line that came through a pipe there is only that.
  func write(_ line: BrokenLine, of list: ListReader) throws(IOFailure) {
    if !line.isText { try write("# \(line)\n".utf8) }
    guard line.bytes != nil || line.extent != nil else { return }
    if let bytes = line.bytes { try write(bytes) }
    try list.read(line) { piece throws(IOFailure) in try write(piece) }
    try write([0x0A])
  }
}
