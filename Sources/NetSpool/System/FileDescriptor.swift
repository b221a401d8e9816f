#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// The one owner of an open file descriptor: it cannot be copied, and closes when it goes.
///
/// Every descriptor opened here is close-on-exec. Interrupted calls are repeated, so no caller sees `EINTR`.
/// Any thread, one at a time; a call on a slow disk blocks its thread.
struct FileDescriptor: ~Copyable {
  /// The number, for calls this type does not wrap. It stays owned here: never close it.
  let rawValue: Int32

  /// Takes over an open descriptor.
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

  deinit { _ = close(rawValue) }

  /// Closes now and says whether the system reported a late write error. Linux frees the number even
  /// then, so a close is never repeated.
  consuming func closing() throws(SystemError) {
    let number = rawValue
    discard self
    guard close(number) != 0, errno != EINTR else { return }
    throw SystemError(number: errno, call: "close")
  }
}

extension FileDescriptor {
  /// `read(2)`: how many bytes came; 0 is the end of the file.
  borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    let number = rawValue
    return try SystemError.check("read") { unsafe Self.systemRead(number, buffer) }
  }

  /// `pread(2)`: as `read`, at `offset`, without moving the file position.
  borrowing func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    let number = rawValue
    return try SystemError.check("pread") {
      unsafe pread(number, buffer.baseAddress!, buffer.count, off_t(offset))
    }
  }

  /// `write(2)`: how many bytes were taken, which may be fewer than offered.
  borrowing func write(_ bytes: RawSpan) throws(SystemError) -> Int {
    let number = rawValue
    guard !bytes.isEmpty else { return 0 }
    return try unsafe bytes.withUnsafeBytes { buffer throws(SystemError) in
      try SystemError.check("write") { unsafe Self.systemWrite(number, buffer) }
    }
  }

  /// `pwrite(2)`: as `write`, at `offset`, without moving the file position.
  borrowing func write(_ bytes: RawSpan, at offset: Int64) throws(SystemError) -> Int {
    let number = rawValue
    guard !bytes.isEmpty else { return 0 }
    return try unsafe bytes.withUnsafeBytes { buffer throws(SystemError) in
      try SystemError.check("pwrite") {
        unsafe pwrite(number, buffer.baseAddress!, buffer.count, off_t(offset))
      }
    }
  }

  /// Tells the kernel that the whole file will be read from front to back: it then reads ahead twice as
  /// far. Only advice, so a refusal (a pipe, an odd file system) is nothing to report.
  borrowing func adviseSequential() {
    _ = posix_fadvise(rawValue, 0, 0, POSIX_FADV_SEQUENTIAL)
  }

  // The methods above hide the C functions of the same name from each other's bodies.
  private static func systemRead(_ number: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    #if canImport(Glibc)
    unsafe Glibc.read(number, buffer.baseAddress, buffer.count)
    #else
    unsafe Musl.read(number, buffer.baseAddress, buffer.count)
    #endif
  }

  private static func systemWrite(_ number: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
    unsafe Glibc.write(number, buffer.baseAddress, buffer.count)
    #else
    unsafe Musl.write(number, buffer.baseAddress, buffer.count)
    #endif
  }
}

/// The error number of a failed system call, taken before anything else could change `errno`.
struct SystemError: Error, Hashable, Sendable {
  let number: Int32
  /// The call that failed: `open`, `read`, `fstat`.
  let call: String

  init(number: Int32, call: String) {
    self.number = number
    self.call = call
  }

  /// Runs a call that answers -1 on failure, again while signals interrupt it.
  static func check<N: BinaryInteger>(
    _ call: String, _ body: () -> N
  ) throws(SystemError) -> N {
    while true {
      let result = body()
      if result != -1 { return result }
      let number = errno
      if number != EINTR { throw SystemError(number: number, call: call) }
    }
  }
}
