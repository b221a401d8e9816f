extension NetworkEngine {
  /// To which addresses connections may be made. Judged when a socket is opened, after the name was resolved, and
  /// again when a connection is used again; so also for every redirect, and whatever a name, a number or a resolver may
  /// pretend. A refusal is `.egressDenied` before a byte is sent.
  public struct Egress: Sendable {
    private enum Rule: Sendable {
      case any
      case publicOnly
      case custom(@Sendable (Address) -> Bool)
    }

    private let kind: Rule

    /// Everywhere; the default.
    public static let any = Self(kind: .any)
    /// Only addresses that may belong to anybody on the internet: not this machine, not private and link-local
    /// networks (so not 169.254.169.254), not multicast or reserved ones, in IPv4, IPv6 and IPv4 inside IPv6. For URLs
    /// that others give you.
    public static let publicOnly = Self(kind: .publicOnly)

    /// Your own rule. It runs on the loop thread and must not block.
    public static func rule(_ allows: @escaping @Sendable (Address) -> Bool) -> Self {
      Self(kind: .custom(allows))
    }

    /// The resolved address of a peer.
    public struct Address: Sendable, Hashable, CustomStringConvertible {
      let internet: InternetAddress
      /// The TCP port.
      public let port: Int

      /// 4 bytes for IPv4, 16 for IPv6; in network order.
      public var bytes: [UInt8] { internet.bytes }
      /// What `publicOnly` says of it.
      public var isPublic: Bool { internet.isPublic }
      /// `127.0.0.1`, or eight groups of hexadecimal digits.
      public var description: String { internet.text }
    }

    var isRestricted: Bool { if case .any = kind { false } else { true } }

    func allows(_ address: InternetAddress, port: Int) -> Bool {
      switch kind {
      case .any: true
      case .publicOnly: address.isPublic
      case .custom(let allows): allows(Address(internet: address, port: port))
      }
    }
  }
}
