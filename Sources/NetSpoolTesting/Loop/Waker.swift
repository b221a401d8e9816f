import Glibc

/// A pair of sockets that wakes the origin's thread. It lives as long as the origin, over all its restarts, so no wake-up
/// can go to a descriptor that meanwhile belongs to somebody else.
final class Waker: Sendable {
  let readEnd: Int32
  private let writeEnd: Int32

  init() throws(OriginError) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
      throw OriginError(call: "socketpair", errno: errno)
    }
    readEnd = ends[0]
    writeEnd = ends[1]
  }

  deinit {
    _ = close(readEnd)
    _ = close(writeEnd)
  }

  /// From any thread. A full socket is fine: the thread will wake anyway.
  func wake() {
    var byte: UInt8 = 1
    _ = unsafe write(writeEnd, &byte, 1)
  }

  func drain() {
    var bytes = [UInt8](repeating: 0, count: 256)
    while unsafe bytes.withUnsafeMutableBytes({ unsafe read(readEnd, $0.baseAddress, $0.count) }) == 256 {}
  }
}
