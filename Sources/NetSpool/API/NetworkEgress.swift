/// To which addresses connections may be made. Judged when a socket is opened, after the name was resolved, and
/// again when a connection is used again; so also for every redirect, and whatever a name, a number or a resolver may
/// pretend. A refusal is `.egressDenied` before a byte is sent.
public struct NetworkEgress: Sendable {
  let core: EgressRule

  /// Everywhere; the default.
  public static let any = Self(core: .any)
  /// Only addresses that may belong to anybody on the internet: not this machine, not private and link-local
  /// networks (so not 169.254.169.254), not multicast or reserved ones, in IPv4, IPv6 and IPv4 inside IPv6. For URLs
  /// that others give you.
  public static let publicOnly = Self(core: .publicOnly)

  /// Your own rule. It runs on the loop thread and must not block.
  public static func rule(_ allows: @escaping @Sendable (Address) -> Bool) -> Self {
    Self(core: .custom { allows(Address(core: $0, port: $1)) })
  }

  /// The resolved address of a peer.
  public struct Address: Sendable, Hashable, CustomStringConvertible {
    let core: InternetAddress
    /// The TCP port.
    public let port: Int

    /// 4 bytes for IPv4, 16 for IPv6; in network order.
    public var bytes: [UInt8] { core.bytes }
    /// What `publicOnly` says of it.
    public var isPublic: Bool { core.isPublic }
    /// `127.0.0.1`, or eight groups of hexadecimal digits.
    public var description: String { core.text }
  }
}
