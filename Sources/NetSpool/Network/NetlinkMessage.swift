/// A message of the kernel's about links, addresses and routes, as far as it matters here (rtnetlink(7)).
struct NetlinkMessage: Equatable, Sendable {
  enum Content: Equatable, Sendable {
    case link(NetlinkLink)
    case linkGone(index: Int32)
    case address(NetlinkAddress)
    case addressGone(NetlinkAddress)
    /// A route, once for each of its next hops. `replaces`: others to the same destination went for it.
    case route([NetlinkRoute], replaces: Bool)
    case routeGone([NetlinkRoute])
    /// The end of what was asked for.
    case done
    /// The kernel refuses what was asked for (errno).
    case refused(Int32)
    /// The kernel dropped messages.
    case overrun
    case other
  }

  var content: Content
  /// Of the question that it answers. A change that a program made carries that program's number, so only
  /// together with `isPart` it says anything.
  var sequence: UInt32 = 0
  /// Belongs to an answer of several messages.
  var isPart = false
  /// The tables changed while they were read out, so the answer may lack something.
  var isInterrupted = false
}

/// A network interface.
struct NetlinkLink: Hashable, Sendable {
  var index: Int32
  var name: String
  var isLoopback = false
  /// Switched on (IFF_UP).
  var isUp = true
  /// True when the link can carry something: there is a signal, an association, a peer (IFF_RUNNING).
  var isRunning = true
}

enum IPFamily: UInt8, Hashable, Sendable, CaseIterable { case ipv4 = 2, ipv6 = 10 }

/// An address of ours that others could answer to.
struct NetlinkAddress: Hashable, Sendable {
  var prefix: IPPrefix
  var interface: Int32
}

/// A way to others.
struct NetlinkRoute: Hashable, Sendable {
  var destination: IPPrefix
  var interface: Int32
  var metric: UInt32 = 0
  var table: UInt32 = 254

  var family: IPFamily { destination.family }
  var isDefault: Bool { destination.length == 0 }

  /// Leads to the same place with the same weight, by whatever interface.
  func rivals(_ other: NetlinkRoute) -> Bool {
    destination == other.destination && metric == other.metric && table == other.table
  }
}
