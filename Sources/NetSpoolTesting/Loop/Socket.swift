import Glibc

/// The socket calls, each wrapped once: errno in, values out. The unsafe code of this module lives here, in
/// `Waker` and `OriginThread`.
enum Socket {
  enum Transfer: Equatable {
    case bytes(Int)
    case wouldBlock
    case end
    case failed
  }

  static let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)

  /// A TCP socket bound to 127.0.0.1, non-blocking, its address reusable.
  static func bound(port: UInt16) throws(OriginError) -> Int32 {
    let fd = socket(AF_INET, kind, 0)
    guard fd >= 0 else { throw OriginError(call: "socket", errno: errno) }
    set(fd, SOL_SOCKET, SO_REUSEADDR, 1 as Int32)
    let result = unsafe withLoopback(port: port) { unsafe bind(fd, $0, $1) }
    guard result == 0 else { throw failure("bind", closing: fd) }
    return fd
  }

  /// A socket on its way to this port of 127.0.0.1, non-blocking; nil when the way is closed or there is no socket.
  static func connecting(port: UInt16) -> Int32? {
    let fd = socket(AF_INET, kind, 0)
    guard fd >= 0 else { return nil }
    set(fd, Int32(IPPROTO_TCP), TCP_NODELAY, 1 as Int32)
    let result = unsafe withLoopback(port: port) { unsafe connect(fd, $0, $1) }
    if result == 0 || errno == EINPROGRESS { return fd }
    _ = close(fd)
    return nil
  }

  private static func withLoopback(
    port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return unsafe withUnsafePointer(to: address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  static func listening(port: UInt16) throws(OriginError) -> Int32 {
    let fd = try bound(port: port)
    guard listen(fd, 4_096) == 0 else { throw failure("listen", closing: fd) }
    return fd
  }

  static func port(of fd: Int32) throws(OriginError) -> UInt16 {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(fd, $0, &size) }
    }
    guard result == 0 else { throw OriginError(call: "getsockname", errno: errno) }
    return UInt16(bigEndian: address.sin_port)
  }

  private static func failure(_ call: String, closing fd: Int32) -> OriginError {
    let error = OriginError(call: call, errno: errno)
    _ = close(fd)
    return error
  }

  private static func set<Value: BitwiseCopyable>(
    _ fd: Int32, _ level: Int32, _ option: Int32, _ value: Value
  ) {
    _ = unsafe withUnsafePointer(to: value) {
      unsafe setsockopt(fd, level, option, $0, socklen_t(MemoryLayout<Value>.size))
    }
  }

  /// A listening socket, which rests for a while when there is no descriptor for a connection.
  struct Listener {
    private static let pause = Duration.milliseconds(50)

    let fd: Int32
    private(set) var restsUntil: ContinuousClock.Instant?

    init(_ fd: Int32) { self.fd = fd }

    /// The events to poll for: none while it rests, or while there is no room.
    mutating func events(hasRoom: Bool) -> Int16 {
      if let until = restsUntil, ContinuousClock.now >= until { restsUntil = nil }
      return restsUntil == nil && hasRoom ? Int16(POLLIN) : 0
    }

    mutating func accept(_ now: ContinuousClock.Instant) -> Int32? {
      let connection = Glibc.accept(fd, nil, nil)
      guard connection >= 0 else {
        // No descriptors left, most likely: come back later.
        if errno != EAGAIN, errno != ECONNABORTED, errno != EINTR { restsUntil = now + Self.pause }
        return nil
      }
      // Not at once, as accept4 would: Swift's Glibc module has it not. A child process forked in between
      // inherits the descriptor, which is why `finish` ends the connection before it closes it.
      _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
      // Each write leaves as it is: slices must not be joined, small answers must not wait for an ACK.
      Socket.set(connection, Int32(IPPROTO_TCP), TCP_NODELAY, 1 as Int32)
      return connection
    }
  }

  /// Waits until one of these is ready or the time has come; negative after a signal. The milliseconds are rounded up:
  /// waking too early would only mean to turn again.
  static func wait(for watched: inout [pollfd], until time: ContinuousClock.Instant?) -> Int32 {
    let left: Double? = time.map { max(($0 - ContinuousClock.now) / .milliseconds(1), 0) }
    let count = nfds_t(watched.count)
    return unsafe poll(&watched, count, left.map { Int32(min($0.rounded(.up), 1e9)) } ?? -1)
  }

  static func receive(_ fd: Int32, into buffer: inout [UInt8]) -> Transfer {
    let result = unsafe buffer.withUnsafeMutableBytes {
      unsafe recv(fd, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
    }
    if result > 0 { return .bytes(result) }
    return result == 0 ? .end : failed()
  }

  static func send(_ fd: Int32, _ bytes: [UInt8], _ range: Range<Int>) -> Transfer {
    let result = unsafe bytes.withUnsafeBytes { raw in
      let part = unsafe UnsafeRawBufferPointer(rebasing: raw[range])
      return unsafe Glibc.send(fd, part.baseAddress, part.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
    return result >= 0 ? .bytes(result) : failed()
  }

  private static func failed() -> Transfer { errno == EAGAIN || errno == EINTR ? .wouldBlock : .failed }

  /// Says that nothing more will be sent; reading goes on.
  static func endSending(_ fd: Int32) { _ = shutdown(fd, Int32(SHUT_WR)) }

  static func finish(_ fd: Int32) {
    _ = shutdown(fd, Int32(SHUT_RDWR))
    _ = close(fd)
  }

  /// Closes with RST: lingering for zero seconds throws away what is unsent.
  static func reset(_ fd: Int32) {
    set(fd, SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
    _ = close(fd)
  }
}
