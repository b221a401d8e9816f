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

  /// Begins an empty file for its owner's eyes only, as URLs may hold secrets, or writes to standard output for `-`.
  static func create(_ path: String) throws(IOFailure) -> OutputFile {
    if path == "-" { return OutputFile(Descriptor(borrowing: 1, named: "standard output")) }
    return OutputFile(try Descriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600))
  }

  /// Goes on at `offset`; what comes after it is cut off.
  static func resume(_ path: String, at offset: Int) throws(IOFailure) -> OutputFile {
    let descriptor = try Descriptor(opening: path, O_WRONLY | O_CREAT | O_APPEND, mode: 0o600)
    try descriptor.resize(to: offset)
    return OutputFile(descriptor)
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
}
