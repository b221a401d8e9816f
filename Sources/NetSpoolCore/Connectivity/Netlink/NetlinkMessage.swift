/// One message of the kernel's about links, addresses and routes, as far as it matters here (rtnetlink(7)).
package struct NetlinkMessage: Equatable, Sendable {
  package enum Content: Equatable, Sendable {
    case link(NetlinkLink)
    case linkGone(index: Int32)
    case address(NetlinkAddress)
    case addressGone(NetlinkAddress)
    /// One route, once for each of its next hops. `replaces`: others to the same destination went for it.
    case route([NetlinkRoute], replaces: Bool)
    case routeGone([NetlinkRoute])
    /// The end of what was asked for.
    case done
    /// What was asked for is not to be had (errno).
    case refused(Int32)
    /// The kernel dropped messages.
    case overrun
    case other
  }

  package var content: Content
  /// Of the question that it answers. A change that a program made carries that program's number, so only
  /// together with `isPart` it says anything.
  package var sequence: UInt32
  /// Belongs to an answer of several messages.
  package var isPart: Bool
  /// The tables changed while they were read out, so the answer may lack something.
  package var isInterrupted: Bool

  package init(_ content: Content, sequence: UInt32 = 0, isPart: Bool = false, isInterrupted: Bool = false) {
    self.content = content
    self.sequence = sequence
    self.isPart = isPart
    self.isInterrupted = isInterrupted
  }
}

/// A network interface.
package struct NetlinkLink: Hashable, Sendable {
  package var index: Int32
  package var name: String
  package var isLoopback = false
  /// Switched on (IFF_UP).
  package var isUp = true
  /// It can carry something: there is a carrier, an association, a peer (IFF_RUNNING).
  package var isRunning = true

  package init(_ index: Int32, _ name: String) {
    self.index = index
    self.name = name
  }
}

package enum IPFamily: UInt8, Hashable, Sendable, CaseIterable { case ipv4 = 2, ipv6 = 10 }

/// An address of ours that others could answer to.
package struct NetlinkAddress: Hashable, Sendable {
  package var prefix: IPPrefix
  package var interface: Int32

  package init(_ prefix: IPPrefix, interface: Int32) {
    self.prefix = prefix
    self.interface = interface
  }
}

/// A way to others.
package struct NetlinkRoute: Hashable, Sendable {
  package var destination: IPPrefix
  package var interface: Int32
  package var metric: UInt32
  package var table: UInt32

  package init(_ destination: IPPrefix, interface: Int32, metric: UInt32 = 0, table: UInt32 = 254) {
    self.destination = destination
    self.interface = interface
    self.metric = metric
    self.table = table
  }

  package var family: IPFamily { destination.family }
  package var isDefault: Bool { destination.length == 0 }

  /// Leads to the same place with the same weight, by whatever interface.
  func rivals(_ other: NetlinkRoute) -> Bool {
    destination == other.destination && metric == other.metric && table == other.table
  }
}
