import Glibc

/// An open file descriptor and the name it goes by in messages. Closed when the last owner lets go.
///
/// The only file that calls the system's read and write functions.
struct Descriptor: ~Copyable {
  let number: Int32
  let path: String
  private let isOwned: Bool

  init(opening path: String, _ flags: Int32, mode: mode_t = 0o666) throws(IOFailure) {
    number = unsafe open(path, flags | O_CLOEXEC, mode)
    guard number >= 0 else { throw .last("open", path) }
    self.path = path
    isOwned = true
  }

  /// Standard input, output or error, or another descriptor that someone else closes.
  init(borrowing number: Int32, named path: String) {
    self.number = number
    self.path = path
    isOwned = false
  }

  private init(owning number: Int32, named path: String) {
    self.number = number
    self.path = path
    isOwned = true
  }

  deinit {
    if isOwned { close(number) }
  }

  /// A file without a name: it vanishes with the process, however that ends.
  static func unlinkedTemporary(in directory: String) throws(IOFailure) -> Descriptor {
    var template = Array("\(directory)/netspool-XXXXXX".utf8CString)
    let number = unsafe template.withUnsafeMutableBufferPointer { buffer in
      let number = unsafe mkstemp(buffer.baseAddress!)
      if number >= 0 { unsafe unlink(buffer.baseAddress!) }
      return number
    }
    guard number >= 0 else { throw .last("create a temporary file in", directory) }
    // `mkostemp` would set it at once, but is not visible to Swift. The tool starts no processes.
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    return Descriptor(owning: number, named: "the temporary file in \(directory)")
  }
}

extension Descriptor {
  /// Reads up to `count` bytes to `buffer[offset...]`; 0 is the end.
  func read(into buffer: inout [UInt8], at offset: Int, count: Int) throws(IOFailure) -> Int {
    precondition(offset + count <= buffer.count, "a read must stay inside its buffer")
    let number = number
    let got = unsafe buffer.withUnsafeMutableBytes { bytes in
      repeating { unsafe Glibc.read(number, bytes.baseAddress! + offset, count) }
    }
    guard got >= 0 else { throw .last("read", path) }
    return got
  }

  /// Writes all of `bytes`, however many calls that takes.
  func write(_ bytes: borrowing [UInt8]) throws(IOFailure) {
    let number = number
    var written = 0
    while written < bytes.count {
      let from = written
      let put = unsafe bytes.withUnsafeBytes { bytes in
        repeating { unsafe Glibc.write(number, bytes.baseAddress! + from, bytes.count - from) }
      }
      guard put >= 0 else { throw .last("write", path) }
      written += put
    }
  }

  /// Fills `words[start..<start + count]` from a byte offset of the file.
  func read(into words: inout [UInt64], at start: Int, count: Int, fileOffset: Int) throws(IOFailure) {
    let number = number
    let got = unsafe words.withUnsafeMutableBytes { bytes in
      repeating { unsafe pread(number, bytes.baseAddress! + start * 8, count * 8, fileOffset) }
    }
    guard got == count * 8 else { throw .last("read", path) }
  }

  /// Writes `words[start..<start + count]` at a byte offset of the file.
  func write(_ words: borrowing [UInt64], at start: Int, count: Int, fileOffset: Int) throws(IOFailure) {
    let number = number
    let put = unsafe words.withUnsafeBytes { bytes in
      repeating { unsafe pwrite(number, bytes.baseAddress! + start * 8, count * 8, fileOffset) }
    }
    guard put >= 0 else { throw .last("write", path) }
    // A short write to a plain file means the disk filled up in the middle of it.
    guard put == count * 8 else { throw IOFailure(action: "write", path: path, code: ENOSPC) }
  }

  /// Cuts the file to, or extends it with zeros to, `size` bytes.
  func resize(to size: Int) throws(IOFailure) {
    guard ftruncate(number, size) == 0 else { throw .last("resize", path) }
  }

  /// Whether a read would return at once. Always true for plain files.
  var isReadable: Bool {
    var watch = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&watch, 1, 0) != 0
  }

  /// Identity and size; nil when the system does not say.
  var status: FileStatus? {
    var raw = stat()
    guard unsafe fstat(number, &raw) == 0 else { return nil }
    return FileStatus(raw)
  }

  /// Whether a relative path names something inside this directory.
  func holds(_ relativePath: String) -> Bool {
    unsafe faccessat(number, relativePath, F_OK, 0) == 0
  }
}

/// Runs a system call again while a signal interrupts it.
private func repeating(_ call: () -> Int) -> Int {
  while true {
    let result = call()
    if result >= 0 || errno != EINTR { return result }
  }
}
