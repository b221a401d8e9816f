import Glibc

/// A TCP socket on 127.0.0.1: listening on a port of the system's choice, or connected to one.
struct LocalSocket: Sendable {
  let descriptor: Descriptor
  let port: UInt16

  static func listening() throws -> LocalSocket {
    let descriptor = try makeDescriptor()
    var address = loopback(port: 0)
    let bound = unsafe withSocketAddress(&address) { unsafe bind(descriptor.number, $0, $1) }
    guard bound == 0, listen(descriptor.number, 511) == 0 else {
      throw PartFailure("no port on 127.0.0.1: errno \(errno)")
    }
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = unsafe withSocketAddress(&address) { pointer, _ in
      unsafe getsockname(descriptor.number, pointer, &size)
    }
    return LocalSocket(descriptor: descriptor, port: UInt16(bigEndian: address.sin_port))
  }

  static func connected(to port: UInt16) throws -> LocalSocket {
    let descriptor = try makeDescriptor()
    var address = loopback(port: port)
    let result = unsafe withSocketAddress(&address) { unsafe connect(descriptor.number, $0, $1) }
    guard result == 0 else { throw PartFailure("connect to port \(port): errno \(errno)") }
    return LocalSocket(descriptor: descriptor, port: port)
  }

  private static func makeDescriptor() throws -> Descriptor {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    return try Descriptor(owning: socket(AF_INET, type, 0), from: "socket")
  }

  private static func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
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
