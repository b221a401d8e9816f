import Glibc
import Synchronization

/// An open file descriptor and its name in messages. The only file that calls the system's read and write functions.
struct Descriptor: ~Copyable {
  let number: Int32
  let path: String
  private let isOwned: Bool

  init(opening path: String, _ flags: Int32, mode: mode_t = 0o666) throws(IOFailure) {
    number = unsafe open(path, flags | O_CLOEXEC, mode)
    guard number >= 0 else { throw .last("open", path) }
    (self.path, isOwned) = (path, true)
  }

  /// Standard input, output or error, or another descriptor that someone else closes.
  init(borrowing number: Int32, named path: String) {
    (self.number, self.path, isOwned) = (number, path, false)
  }

  /// A file without a name: it vanishes with the process, however that ends.
  init(unlinkedTemporaryIn directory: String) throws(IOFailure) {
    var template = Array("\(directory)/netspool-XXXXXX".utf8CString)
    number = unsafe template.withUnsafeMutableBufferPointer { buffer in
      let made = unsafe mkstemp(buffer.baseAddress!)
      if made >= 0 { unsafe unlink(buffer.baseAddress!) }
      return made
    }
    guard number >= 0 else { throw .last("create a temporary file in", directory) }
    // `mkostemp` would set it at once, but is not visible to Swift. The tool starts no processes.
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    (path, isOwned) = ("the temporary file in \(directory)", true)
  }

  deinit { if isOwned { close(number) } }

  /// Reads up to `count` elements to `buffer[start...]`, or all that it has room for, from an offset of the file or from
  /// where the last read ended. Returns bytes; 0 is the end.
  func read<T: BitwiseCopyable>(
    into buffer: inout [T], at start: Int, count: Int? = nil, fileOffset: Int64? = nil
  ) throws(IOFailure) -> Int {
    let (number, width, end) = (number, MemoryLayout<T>.size, count.map { start + $0 } ?? buffer.count)
    precondition(end <= buffer.count, "a read must stay inside its buffer")
    let got = unsafe buffer.withUnsafeMutableBytes { bytes in
      let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start * width..<end * width])
      return repeating {
        guard let fileOffset else { return unsafe Glibc.read(number, room.baseAddress, room.count) }
        return unsafe pread(number, room.baseAddress, room.count, Int(fileOffset))
      }
    }
    guard got >= 0 else { throw .last("read", path) }
    return got
  }

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

  /// True if a read would return at once. Always true for plain files.
  var isReadable: Bool {
    var watch = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&watch, 1, 0) != 0
  }

  /// Identity and size; nil when the system does not say.
  var status: FileFacts? {
    var raw = stat()
    guard unsafe fstat(number, &raw) == 0 else { return nil }
    return FileFacts(raw)
  }
}

/// Runs a system call again while a signal interrupts it.
private func repeating(_ call: () -> Int) -> Int {
  while true {
    let result = call()
    if result >= 0 || errno != EINTR { return result }
  }
}

/// What the system says of a file: which it is, whose, how long, and when it was written last.
struct FileFacts: Equatable {
  private let raw: stat

  init(_ raw: stat) { self.raw = raw }

  /// The facts of what `path` names, or with `followsLinks` false of a symbolic link itself; nil when there is nothing.
  init?(path: String, followsLinks: Bool = true) {
    var raw = stat()
    guard unsafe (followsLinks ? stat(path, &raw) : lstat(path, &raw)) == 0 else { return nil }
    self.init(raw)
  }

  var size: Int { Int(raw.st_size) }
  var owner: uid_t { raw.st_uid }
  /// In seconds since 1970, and nanoseconds.
  var modified: [Int] { [Int(raw.st_mtim.tv_sec), Int(raw.st_mtim.tv_nsec)] }
  var isPlainFile: Bool { raw.st_mode & S_IFMT == S_IFREG }
  var isDirectory: Bool { raw.st_mode & S_IFMT == S_IFDIR }

  /// True if only its owner may read and write it.
  var isPrivate: Bool { raw.st_mode & 0o077 == 0 }

  /// When the file was written last, in seconds since 1970; nil when there is none.
  static func modified(_ path: String) -> Int64? { FileFacts(path: path).map { Int64($0.modified[0]) } }

  /// The length of a file; nil when there is none.
  static func bytes(_ path: String) -> Int64? { FileFacts(path: path).map { Int64($0.size) } }

  static func isLink(_ path: String) -> Bool {
    FileFacts(path: path, followsLinks: false).map { $0.raw.st_mode & S_IFMT == S_IFLNK } ?? false
  }

  /// True if both are one, whatever was written to it between the two looks.
  static func == (one: FileFacts, other: FileFacts) -> Bool {
    one.raw.st_dev == other.raw.st_dev && one.raw.st_ino == other.raw.st_ino
  }

  /// True if both are one plain file. Pipes and terminals may be shared without harm.
  func isSameFile(as other: FileFacts) -> Bool { isPlainFile && self == other }
}

/// A local file, pipe or folder that could not be opened, read or written. It ends the job with status 74.
struct IOFailure: Error, Equatable, CustomStringConvertible {
  /// What was tried, as a verb: `open`, `read`, `write`.
  let action: String
  /// The file as the user named it.
  let path: String
  /// The system's `errno`, never remapped.
  let code: Int32

  /// Takes `errno` as the last system call left it.
  static func last(_ action: String, _ path: String) -> IOFailure {
    IOFailure(action: action, path: path, code: errno)
  }

  var description: String { "cannot \(action) \(path): \(Self.sentence(code))" }

  /// What the system's number means for a file.
  static func sentence(_ code: Int32) -> String {
    switch code {
    case EISDIR: "it is a folder"
    case ENOTDIR: "a part of its path is no folder"
    case EALREADY: "'-' can be given once"
    case EWOULDBLOCK: "another process writes it at the moment"
    default: unsafe String(cString: strerror(code))
    }
  }

  /// Asked for what cannot be had twice.
  var isOfCommandLine: Bool { code == EALREADY }

  /// True if every later write would fail as well: full disk, quota, read-only or broken device.
  static func stopsEverything(_ code: Int32) -> Bool { [ENOSPC, EDQUOT, EROFS, EIO].contains(code) }
}

enum StandardOutput {
  /// Lets a standard output that is closed refuse what is written to it. For the first line of a program: the library opens
  /// `/dev/null` in place of descriptors that are missing, where all that is printed would be lost without a word.
  static func stayClosed() {
    for number in Int32(0)...1 where fcntl(number, F_GETFD) < 0 && errno == EBADF {
      // The lowest number that is free is this one.
      _ = unsafe open("/dev/null", number == 0 ? O_RDWR : O_RDONLY)
    }
  }

  static func write(_ bytes: [UInt8]) throws(IOFailure) {
    try Descriptor(borrowing: 1, named: "standard output").write(bytes)
  }

  static func write(_ text: String) throws(IOFailure) { try write(Array(text.utf8)) }
}

/// What no other process has in its names. Two containers that share a folder may both have the process number 1.
enum OwnName {
  static let word = String(UInt64.random(in: .min ... .max), radix: 16)
  private static let given = Atomic(0)

  /// A name in the same folder, hidden, that no other file has: a rename is all that is left to do.
  static func beside(_ path: String) -> String {
    "\(OutputName.parts(path).folder).netspool-\(word)-\(given.add(1, ordering: .relaxed).newValue)"
  }
}

final class SharedDescriptor: Sendable {
  let descriptor: Descriptor
  init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
}

/// Folders that no other process has.
enum TemporaryFolder {
  /// Makes one, for its owner only. The caller removes it.
  static func make(in directory: String, named name: String = "netspool") throws(IOFailure) -> String {
    var template = Array("\(directory)/\(name)-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw .last("make a folder in", directory) }
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
