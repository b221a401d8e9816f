internal import CNetSpoolShims
internal import Glibc

/// The one owner of an open file descriptor: it cannot be copied, and closes when it goes.
///
/// Every descriptor opened here is close-on-exec. Interrupted calls are repeated, so no caller sees `EINTR`.
/// Any thread, one at a time; a call on a slow disk blocks its thread.
struct FileDescriptor: ~Copyable, Sendable {
  /// The number, for calls this type does not wrap; -1 once closed. It stays owned here: never close it.
  private(set) var rawValue: Int32

  /// Takes over an open descriptor; -1 stands for none.
  init(owning rawValue: Int32) { self.rawValue = rawValue }

  /// `open(2)`; `flags` are its `O_` flags, to which `O_CLOEXEC` and `O_NOCTTY` are added.
  init(opening path: String, flags: Int32, mode: UInt32 = 0o600) throws(SystemError) {
    rawValue = try SystemError.check("open") { unsafe open(path, flags | O_CLOEXEC | O_NOCTTY, mode) }
  }

  /// `openat(2)`: `name` is looked up in the directory `directory`.
  init(
    opening name: String, in directory: borrowing FileDescriptor, flags: Int32, mode: UInt32 = 0o600
  ) throws(SystemError) {
    let parent = directory.rawValue
    rawValue = try SystemError.check("openat") {
      unsafe openat(parent, name, flags | O_CLOEXEC | O_NOCTTY, mode)
    }
  }

  deinit { if rawValue >= 0 { _ = Glibc.close(rawValue) } }

  /// Closes now and tells what the file system only says then: over NFS a full disk shows here.
  mutating func close() throws(SystemError) {
    let closing = rawValue
    rawValue = -1
    // Not repeated after EINTR: Linux has given the descriptor up by then.
    if Glibc.close(closing) < 0 && errno != EINTR { throw SystemError(number: errno, call: "close") }
  }

  /// Hands the open descriptor over to who asks.
  consuming func release() -> Int32 {
    let number = rawValue
    rawValue = -1
    return number
  }
}

// MARK: Reading and writing

extension FileDescriptor {
  /// `SystemError.check` of a call that is given the number.
  borrowing func check<N: BinaryInteger>(_ call: String, _ body: (Int32) -> N) throws(SystemError) -> N {
    let number = rawValue
    return try SystemError.check(call) { body(number) }
  }

  /// `read(2)`: how many bytes came; 0 is the end of the file.
  borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    try check("read") { unsafe Glibc.read($0, buffer.baseAddress, buffer.count) }
  }

  /// `pread(2)`: as `read`, at `offset`, without moving the file position.
  borrowing func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    try check("pread") { unsafe pread($0, buffer.baseAddress!, buffer.count, off_t(offset)) }
  }

  /// The bytes from `offset` on, without moving the file position, or, without one, from where that is: so many, or what
  /// there is up to the end.
  borrowing func bytes(at offset: Int64? = nil, atMost count: Int) throws(SystemError) -> [UInt8] {
    let number = rawValue
    return try [UInt8](capacity: count) { output throws(SystemError) in
      try unsafe output.withUnsafeMutableBufferPointer { buffer, filled throws(SystemError) in
        while filled < count {
          let rest = unsafe UnsafeMutableRawBufferPointer(
            rebasing: UnsafeMutableRawBufferPointer(buffer)[filled..<min(count, filled + Self.readMax)])
          let done = Int64(filled)
          let read = try SystemError.check(offset == nil ? "read" : "pread") {
            guard let offset else { return unsafe Glibc.read(number, rest.baseAddress, rest.count) }
            return unsafe pread(number, rest.baseAddress!, rest.count, off_t(offset + done))
          }
          if read == 0 { return }
          filled += read
        }
      }
    }
  }

  /// At once: the kernel refuses to make up what is to be longer than 4 MiB (ENOMEM).
  private static var readMax: Int { 512 << 10 }

  /// `write(2)`: how many bytes were taken, which may be fewer than offered.
  borrowing func write(_ bytes: RawSpan) throws(SystemError) -> Int {
    let number = rawValue
    guard !bytes.isEmpty else { return 0 }
    return try unsafe bytes.withUnsafeBytes { buffer throws(SystemError) in
      try SystemError.check("write") { unsafe Glibc.write(number, buffer.baseAddress, buffer.count) }
    }
  }

  /// `pwrite(2)`: writes `count` bytes, those from `start` on, at `offset`, without moving the file position.
  borrowing func write(
    _ bytes: RawSpan, from start: Int, count: Int, at offset: Int64
  ) throws(SystemError) -> Int {
    let number = rawValue
    guard count > 0 else { return 0 }
    return try unsafe bytes.withUnsafeBytes { buffer throws(SystemError) in
      try SystemError.check("pwrite") {
        unsafe pwrite(number, buffer.baseAddress! + start, count, off_t(offset))
      }
    }
  }

  /// Writes all bytes at `offset`.
  borrowing func writeAll(_ bytes: RawSpan, at offset: Int64) throws(SystemError) {
    var done = 0
    while done < bytes.byteCount {
      let written = try write(bytes, from: done, count: bytes.byteCount - done, at: offset + Int64(done))
      guard written > 0 else { throw SystemError(number: EIO, call: "pwrite") }
      done += written
    }
  }

  /// Sends on a socket without waiting and without SIGPIPE, whatever the flags of its description say.
  borrowing func send(_ bytes: RawSpan) throws(SystemError) -> Int {
    let number = rawValue
    let flags = CInt(MSG_NOSIGNAL | MSG_DONTWAIT)
    return try unsafe bytes.withUnsafeBytes { buffer throws(SystemError) in
      try SystemError.check("send") { unsafe Glibc.send(number, buffer.baseAddress, buffer.count, flags) }
    }
  }

  /// Writes all of the bytes to a descriptor that others own, blocking or not. Returns nil when all is written, else
  /// the errno.
  static func writeAll(_ bytes: RawSpan, to descriptor: Int32) -> Int32? {
    unsafe bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        let count = unsafe Glibc.write(descriptor, buffer.baseAddress! + done, buffer.count - done)
        if count >= 0 {
          done += count
        } else if errno == EAGAIN {
          var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          unsafe poll(&wait, 1, -1)
        } else if errno != EINTR {
          return errno
        }
      }
      return nil
    }
  }
}

// MARK: What else is asked of a file

extension FileDescriptor {
  borrowing func truncate(to bytes: Int64) throws(SystemError) {
    _ = try check("ftruncate") { ftruncate($0, off_t(bytes)) }
  }

  borrowing func setPermissions(_ mode: UInt32) throws(SystemError) {
    _ = try check("fchmod") { fchmod($0, mode_t(mode)) }
  }

  /// Sets aside blocks for `bytes` bytes from `offset` on without changing the file's length.
  borrowing func reserve(from offset: Int64, _ bytes: Int64) throws(SystemError) {
    _ = try check("fallocate") { cnetspool_reserve($0, offset, bytes) }
  }

  /// Bytes that its file system has left; nil when it does not say.
  borrowing func freeBytes() -> Int64? {
    var facts = statvfs()
    guard unsafe fstatvfs(rawValue, &facts) == 0, facts.f_blocks > 0 else { return nil }
    return Int64(clamping: UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize)).0)
  }

  /// Turns direct writes (`O_DIRECT`) on or off. Where the file system has none, turning on throws EINVAL.
  borrowing func setDirect(_ direct: Bool) throws(SystemError) {
    let flags = try check("fcntl") { fcntl($0, F_GETFL) }
    let wanted = direct ? flags | cnetspool_o_direct : flags & ~cnetspool_o_direct
    _ = try check("fcntl") { fcntl($0, F_SETFL, wanted) }
  }

  /// Tells the kernel that the whole file will be read from front to back: it then reads ahead twice as
  /// far. Only advice, so a refusal (a pipe, an odd file system) is nothing to report.
  borrowing func adviseSequential() { _ = posix_fadvise(rawValue, 0, 0, POSIX_FADV_SEQUENTIAL) }
}

/// The error number of a failed system call, never remapped, taken before anything else could change `errno`.
struct SystemError: Error, Hashable, Sendable {
  let number: Int32
  /// The call that failed: `open`, `read`, `fstat`.
  let call: String

  /// Runs a call that answers -1 on failure, again while signals interrupt it.
  static func check<N: BinaryInteger>(_ call: String, _ body: () -> N) throws(SystemError) -> N {
    while true {
      let result = body()
      if result != -1 { return result }
      let number = errno
      if number != EINTR { throw SystemError(number: number, call: call) }
    }
  }
}

// MARK: A writer that changes nothing for others

extension FileDescriptor {
  /// A descriptor of our own for what another descriptor is open on, which never blocks a write and
  /// changes nothing for anybody else who shares it.
  ///
  /// O_NONBLOCK belongs to the open file description, which a shell's children and a parent share;
  /// setting it for us sets it for them, and restoring it later cannot undo what they met meanwhile.
  /// So a pipe or terminal is opened a second time through `/proc`, which makes a new description. A socket
  /// is only duplicated: it can be asked per call (`send`). Files and devices never make a writer wait.
  static func privateWriter(
    for descriptor: CInt, kind: FileStatus.Kind
  ) throws(SystemError) -> FileDescriptor {
    // Opened anew, the reading end of a pipe would be a writing one.
    let flags = try SystemError.check("fcntl") { fcntl(descriptor, F_GETFL) }
    guard flags & O_ACCMODE != O_RDONLY else { throw SystemError(number: EBADF, call: "write") }
    let waits = kind == .pipe || (kind == .characterDevice && isatty(descriptor) == 1)
    guard waits else { return try duplicate(of: descriptor) }
    do {
      return try FileDescriptor(opening: "/proc/self/fd/\(descriptor)", flags: O_WRONLY | O_NONBLOCK)
    } catch {
      // ENXIO: a pipe that nobody reads any more; that is the EPIPE of the first write.
      if error.number == ENXIO { throw SystemError(number: EPIPE, call: "open") }
      return try duplicateNonblocking(descriptor)
    }
  }

  static func duplicate(of descriptor: CInt) throws(SystemError) -> FileDescriptor {
    FileDescriptor(owning: try SystemError.check("fcntl") { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) })
  }

  /// The last resort, without `/proc` or for a pipe of another user: the shared description is changed.
  private static func duplicateNonblocking(_ descriptor: CInt) throws(SystemError) -> FileDescriptor {
    let copy = try duplicate(of: descriptor)
    let flags = try copy.check("fcntl") { fcntl($0, F_GETFL) }
    _ = try copy.check("fcntl") { fcntl($0, F_SETFL, flags | O_NONBLOCK) }
    return copy
  }
}
