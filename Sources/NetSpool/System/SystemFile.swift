internal import CNetSpoolShims
internal import Glibc

/// An open descriptor, closed when the value ends. Every call repeats itself when a signal interrupts it.
struct SystemFile: ~Copyable, Sendable {
  /// What a call gave instead of a result: its `errno`, never remapped.
  struct CallFailure: Error, Sendable, Equatable {
    var number: CInt
    init(number: CInt) { self.number = number }
  }

  /// -1 once closed.
  private(set) var descriptor: CInt

  init(owning descriptor: CInt) { self.descriptor = descriptor }

  deinit { if descriptor >= 0 { _ = Glibc.close(descriptor) } }

  /// Closes now and tells what the file system only says then: over NFS a full disk shows here.
  mutating func close() throws(CallFailure) {
    let closing = descriptor
    descriptor = -1
    // Not repeated after EINTR: Linux has given the descriptor up by then.
    if Glibc.close(closing) < 0 && errno != EINTR { throw CallFailure(number: errno) }
  }

  /// Runs a call until no signal interrupts it, and throws when it answers -1.
  @discardableResult
  static func check<Number: FixedWidthInteger>(
    _ call: () -> Number
  ) throws(CallFailure) -> Number {
    while true {
      let result = call()
      if result != -1 { return result }
      if errno != EINTR { throw CallFailure(number: errno) }
    }
  }
}

extension SystemFile {
  /// Writes at the descriptor's own position; answers how many of the bytes were taken.
  func write(_ bytes: RawSpan) throws(CallFailure) -> Int {
    try SystemFile.check { () -> Int in
      unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
  }

  /// Writes `count` bytes, those from `start` on, at a position of the file.
  func write(
    _ bytes: RawSpan, from start: Int, count: Int, at offset: Int64
  ) throws(CallFailure) -> Int {
    try SystemFile.check { () -> Int in
      unsafe bytes.withUnsafeBytes { buffer in
        unsafe pwrite(descriptor, buffer.baseAddress! + start, count, off_t(offset))
      }
    }
  }

  /// Sends on a socket without waiting and without SIGPIPE, whatever the flags of its description say.
  func send(_ bytes: RawSpan) throws(CallFailure) -> Int {
    let flags = CInt(MSG_NOSIGNAL | MSG_DONTWAIT)
    return try SystemFile.check { () -> Int in
      unsafe bytes.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
    }
  }

  func truncate(to bytes: Int64) throws(CallFailure) {
    try SystemFile.check { ftruncate(descriptor, off_t(bytes)) }
  }

  func setPermissions(_ mode: UInt32) throws(CallFailure) {
    try SystemFile.check { fchmod(descriptor, mode_t(mode)) }
  }

  /// Sets aside blocks for `bytes` bytes from `offset` on without changing the file's length.
  func reserve(from offset: Int64, _ bytes: Int64) throws(CallFailure) {
    try SystemFile.check { cnetspool_reserve(descriptor, offset, bytes) }
  }

  /// Turns direct writes (`O_DIRECT`) on or off. Where the file system has none, turning on throws EINVAL.
  func setDirect(_ direct: Bool) throws(CallFailure) {
    let flags = try SystemFile.check { fcntl(descriptor, F_GETFL) }
    let wanted = direct ? flags | cnetspool_o_direct : flags & ~cnetspool_o_direct
    try SystemFile.check { fcntl(descriptor, F_SETFL, wanted) }
  }
}
