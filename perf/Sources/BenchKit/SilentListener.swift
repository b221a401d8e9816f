import Glibc

/// A port of this process that takes connections and never answers, so that requests to it stay queued.
///
/// Nobody accepts: the kernel completes the handshakes by itself, as many as the backlog holds.
package struct SilentListener: Sendable {
  package let urlPrefix: String

  package init() {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let failed = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe bind(descriptor, generic, length) != 0 || listen(descriptor, 1024) != 0
          || getsockname(descriptor, generic, &length) != 0
      }
    }
    guard descriptor >= 0, !failed else { usageError("no port to listen on at 127.0.0.1") }
    urlPrefix = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
  }
}
