internal import CNetSpoolCurl
internal import CNetSpoolShims
internal import Glibc

/// Calls on a socket that libcurl does not know of.
enum StraySocket {
  /// The next byte, left where it is; nil when there is none.
  static func firstByte(of descriptor: Int32) -> UInt8? {
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT)) == 1 ? byte : nil
  }

  /// Whether it leads to another machine, or could. libcurl has sockets for its own purposes as well.
  static func isConnection(_ descriptor: Int32) -> Bool {
    var domain: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    let result = unsafe getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size)
    return result == 0 && (domain == AF_INET || domain == AF_INET6)
  }

  /// The port at our end; nil when there is none.
  static func localPort(of descriptor: Int32) -> Int? {
    var bytes = [UInt8](repeating: 0, count: MemoryLayout<sockaddr_storage>.size)
    var size = socklen_t(bytes.count)
    let result = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe getsockname(descriptor, buffer.baseAddress!.assumingMemoryBound(to: sockaddr.self), &size)
    }
    // In the same place for both families (RFC 3493 section 3.3).
    return result == 0 ? Int(bytes[2]) << 8 | Int(bytes[3]) : nil
  }

  /// Resets the connection and drops what had come; the descriptor stays libcurl's to close (connect(2),
  /// AF_UNSPEC).
  static func disconnect(_ descriptor: Int32) {
    var address = sockaddr()
    address.sa_family = sa_family_t(AF_UNSPEC)
    unsafe connect(descriptor, &address, socklen_t(MemoryLayout<sockaddr>.size))
  }
}
