internal import CNetSpoolShims
internal import Glibc

/// The kernel's routing socket (rtnetlink(7)): it answers with all links, addresses and routes, and tells of
/// changes when it was opened to watch. Non-blocking; one thread at a time.
struct NetlinkSocket: ~Copyable {
  /// What one look at the socket gave.
  enum Receipt: Equatable, Sendable {
    /// The number of bytes of whole messages that came.
    case bytes(Int)
    /// Nothing is there.
    case nothing
    /// Messages were lost; what was known must be asked for again.
    case overrun
  }

  private let descriptor: FileDescriptor

  /// Throws what socket(2) and bind(2) say; a sandbox may forbid it.
  init(watching: Bool) throws(SystemError) {
    descriptor = FileDescriptor(
      owning: try SystemError.check("socket") { cnetspool_netlink_open(watching ? 1 : 0) })
  }

  /// For polling only.
  var rawValue: Int32 { descriptor.rawValue }

  /// Asks for everything of one kind; the answers carry the sequence number.
  borrowing func ask(type: UInt16, sequence: UInt32) throws(SystemError) {
    _ = try descriptor.check("sendto") { cnetspool_netlink_ask($0, type, sequence) }
  }

  /// Takes one datagram of the kernel.
  borrowing func receive(into buffer: inout [UInt8]) throws(SystemError) -> Receipt {
    let number = descriptor.rawValue
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe cnetspool_netlink_receive(number, bytes.baseAddress!, bytes.count)
      }
      if count > 0 { return .bytes(Int(count)) }
      if count == 0 { continue }  // another process wrote to us
      switch errno {
      case EINTR: continue
      case EAGAIN: return .nothing
      case ENOBUFS: return .overrun
      default: throw SystemError(number: errno, call: "recvmsg")
      }
    }
  }
}
