/// Whether anybody but ourselves can be reached, and over what kind of link.
struct LinkState: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// Wired, Wi-Fi, and whatever else is not known to be metered.
    case local
    /// A radio modem or a dialled line.
    case cellular
  }

  /// The families that have an address of ours and a route over a link that works.
  var families: Set<IPFamily>
  var kind: Kind
  /// The interface of the default route, or of any route when there is no default; empty without one.
  var interface: String

  init(families: Set<IPFamily>, kind: Kind = .local, interface: String = "") {
    self.families = families
    self.kind = kind
    self.interface = interface
  }

  /// What counts where the kernel does not tell: everything is taken to be routed, and attempts find out.
  static let assumed = LinkState(families: [.ipv4, .ipv6])
  static let unrouted = LinkState(families: [])

  var isRouted: Bool { !families.isEmpty }
}

extension LinkState.Kind {
  /// By the names that the kernel and systemd give (systemd.net-naming-scheme(7)): `wwan0`, `wwp0s20u4`, `ppp0`,
  /// and `rmnet0` of Qualcomm modems.
  init(interface name: String) {
    self = ["ww", "ppp", "rmnet"].contains(where: name.hasPrefix) ? .cellular : .local
  }
}
