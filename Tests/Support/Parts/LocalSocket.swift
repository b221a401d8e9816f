import Glibc

/// A TCP socket on an address of this machine, 127.0.0.1 mostly: listening on a port of the system's choice, or
/// connected to one. `host` is the last byte of the address.
struct LocalSocket: Sendable {
  let descriptor: TestDescriptor
  let port: UInt16
  /// By a peer that did so at once, while the system was connecting.
  var wasReset = false

  static func listening(host: UInt8 = 1, port: UInt16 = 0) throws -> LocalSocket {
    let socket = try bound(makeDescriptor(), host: host, port: port)
    guard listen(socket.descriptor.number, 511) == 0 else { throw PartFailure("listen: errno \(errno)") }
    return socket
  }

  private static func bound(
    _ descriptor: TestDescriptor, host: UInt8 = 1, port: UInt16 = 0
  ) throws -> LocalSocket {
    var address = loopback(host, port: port)
    let bound = unsafe withSocketAddress(&address) { unsafe bind(descriptor.number, $0, $1) }
    guard bound == 0 else { throw PartFailure("no port on 127.0.0.\(host): errno \(errno)") }
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = unsafe withSocketAddress(&address) { pointer, _ in
      unsafe getsockname(descriptor.number, pointer, &size)
    }
    return LocalSocket(descriptor: descriptor, port: UInt16(bigEndian: address.sin_port))
  }

  /// A port for a server that cannot inherit a socket: bound here and never listening, so nobody else is given it,
  /// while a server that reuses addresses can listen on it (socket(7), SO_REUSEADDR).
  static func reserved() throws -> LocalSocket {
    let descriptor = try makeDescriptor()
    var one: Int32 = 1
    _ = unsafe setsockopt(
      descriptor.number, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    return try bound(descriptor)
  }

  /// The next connection to a listening socket.
  func accepted(before deadline: Deadline) throws -> TestDescriptor {
    guard descriptor.isReadable(before: deadline) else { throw PartFailure("nobody came to port \(port)") }
    let connection = try TestDescriptor(owning: accept(descriptor.number, nil, nil), from: "accept")
    _ = fcntl(connection.number, F_SETFD, FD_CLOEXEC)
    return connection
  }

  static func connected(host: UInt8 = 1, to port: UInt16) throws -> LocalSocket {
    let descriptor = try makeDescriptor()
    var address = loopback(host, port: port)
    let result = unsafe withSocketAddress(&address) { unsafe connect(descriptor.number, $0, $1) }
    guard result == 0 || errno == ECONNRESET else {
      throw PartFailure("connect to port \(port): errno \(errno)")
    }
    return LocalSocket(descriptor: descriptor, port: port, wasReset: result != 0)
  }

  private static func makeDescriptor() throws -> TestDescriptor {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    return try TestDescriptor(owning: socket(AF_INET, type, 0), from: "socket")
  }

  private static func loopback(_ host: UInt8, port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = (0x7F00_0000 | UInt32(host)).bigEndian
    return address
  }

  private static func withSocketAddress(
    _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    unsafe withUnsafeMutablePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
