import Testing

@testable import NetSpool

@Suite struct RouteTableTests {
  /// A machine with a loopback, a cable (2), Wi-Fi (3) and a modem (4), all with an address and none with a route.
  private static func machine() -> RouteTable {
    var table = RouteTable()
    var loopback = NetlinkLink(index: 1, name: "lo")
    loopback.isLoopback = true
    _ = table.apply(.link(loopback))
    for (index, name) in [(2, "enp1s0"), (3, "wlp2s0"), (4, "wwp0s20u4")] as [(Int32, String)] {
      _ = table.apply(.link(NetlinkLink(index: index, name: name)))
      _ = table.apply(.address(address(.ipv4, UInt64(index), index)))
    }
    return table
  }

  private static func address(_ family: IPFamily, _ number: UInt64, _ interface: Int32) -> NetlinkAddress {
    NetlinkAddress(prefix: IPPrefix(family, low: number, length: 24), interface: interface)
  }

  private static func way(_ interface: Int32, _ family: IPFamily = .ipv4, metric: UInt32 = 0) -> NetlinkRoute
  {
    NetlinkRoute(destination: IPPrefix(family, length: 0), interface: interface, metric: metric)
  }

  private var table = RouteTableTests.machine()

  @Test mutating func `without a route there is none`() {
    #expect(!table.state.isRouted)
    _ = table.apply(.route([Self.way(2)], replaces: false))
    #expect(table.state == LinkState(families: [.ipv4], interface: "enp1s0"))
    _ = table.apply(.routeGone([Self.way(2)]))
    #expect(table.state == .unrouted)
  }

  @Test mutating func `an engine that may use some interfaces only has the best of them`() {
    let wireless = InterfaceRule(patterns: ["wl*", "eth0"])
    _ = table.apply(.route([Self.way(2), Self.way(3, metric: 9), Self.way(4, metric: 5)], replaces: false))
    #expect(table.state.interfaces == ["enp1s0", "wwp0s20u4", "wlp2s0"])
    #expect(table.state.limited(to: nil) == table.state)
    #expect(table.state.limited(to: wireless).interface == "wlp2s0")
    #expect(table.state.limited(to: InterfaceRule(patterns: ["*"])).interface == "enp1s0")
    #expect(table.state.limited(to: InterfaceRule(patterns: ["ww*"])).kind == .cellular)
    _ = table.apply(.routeGone([Self.way(3, metric: 9)]))
    #expect(table.state.isRouted && table.state.limited(to: wireless) == .unrouted)
    // Where the kernel does not tell, a whole name is taken at its word.
    #expect(LinkState.assumed.limited(to: wireless).interface == "eth0")
    #expect(!LinkState.assumed.limited(to: InterfaceRule(patterns: ["wl*"])).isRouted)
  }

  @Test mutating func `a route over the loopback leads nowhere`() {
    _ = table.apply(.address(Self.address(.ipv4, 9, 1)))
    _ = table.apply(.route([Self.way(1)], replaces: false))
    #expect(!table.state.isRouted)
  }

  @Test mutating func `a family without an address is not routed`() {
    _ = table.apply(.route([Self.way(2, .ipv6)], replaces: false))
    #expect(!table.state.isRouted)
    _ = table.apply(.address(Self.address(.ipv6, 1, 1)))  // on any link, the loopback's own included
    #expect(table.state.families == [.ipv6])
    #expect(table.apply(.addressGone(Self.address(.ipv6, 1, 1))) == true)
    #expect(!table.state.isRouted)
  }

  @Test mutating func `a route to some place counts as well`() {
    let place = NetlinkRoute(destination: IPPrefix(.ipv4, high: 10 << 56, length: 8), interface: 2)
    _ = table.apply(.route([place], replaces: false))
    #expect(table.state.isRouted)
  }

  @Test mutating func `a cable that is pulled and put back keeps its routes`() {
    _ = table.apply(.route([Self.way(2)], replaces: false))
    var pulled = NetlinkLink(index: 2, name: "enp1s0")
    pulled.isRunning = false
    #expect(table.apply(.link(pulled)) == false)
    #expect(!table.state.isRouted)
    _ = table.apply(.link(NetlinkLink(index: 2, name: "enp1s0")))
    #expect(table.state.isRouted)
  }

  @Test mutating func `a link that is switched off loses its routes`() {
    _ = table.apply(.route([Self.way(2)], replaces: false))
    var off = NetlinkLink(index: 2, name: "enp1s0")
    (off.isUp, off.isRunning) = (false, false)
    #expect(table.apply(.link(off)) == true)
    _ = table.apply(.link(NetlinkLink(index: 2, name: "enp1s0")))
    #expect(!table.state.isRouted)
  }

  @Test mutating func `a link that goes takes everything along`() {
    _ = table.apply(.route([Self.way(2)], replaces: false))
    #expect(table.apply(.linkGone(index: 2)) == true)
    #expect(table.apply(.linkGone(index: 2)) == false)
    #expect(!table.state.isRouted)
  }

  @Test mutating func `the default route of least weight names the link`() {
    let near = NetlinkRoute(destination: IPPrefix(.ipv4, high: 10 << 56, length: 8), interface: 2)
    _ = table.apply(.route([near], replaces: false))
    _ = table.apply(.route([Self.way(4, metric: 700)], replaces: false))
    #expect(table.state.kind == .cellular && table.state.interface == "wwp0s20u4")
    _ = table.apply(.route([Self.way(3, metric: 600)], replaces: false))
    #expect(table.state.kind == .local && table.state.interface == "wlp2s0")
    _ = table.apply(.routeGone([Self.way(3, metric: 600)]))
    #expect(table.state.kind == .cellular)
  }

  @Test(arguments: [
    ("eth0", false), ("wlan0", false), ("wwan0", true), ("wwp0s20f0u6", true), ("ppp0", true),
    ("rmnet_data0", true), ("br0", false), ("wg0", false),
  ])
  func `names tell the kind`(_ name: String, _ isCellular: Bool) {
    var table = Self.machine()
    _ = table.apply(.link(NetlinkLink(index: 9, name: name)))
    _ = table.apply(.route([Self.way(9)], replaces: false))
    #expect(table.state.kind == (isCellular ? .cellular : .local))
  }

  @Test mutating func `a replaced route is gone without a word`() {
    _ = table.apply(.route([Self.way(4)], replaces: false))
    _ = table.apply(.route([Self.way(2)], replaces: true))
    #expect(table.state.interface == "enp1s0")
    _ = table.apply(.routeGone([Self.way(2)]))
    #expect(!table.state.isRouted)
  }

  @Test mutating func `a router's table costs bounded memory`() {
    let places = (0..<5_000 as Range<UInt64>).map { number in
      NetlinkRoute(destination: IPPrefix(.ipv4, high: (number + 16) << 40, length: 24), interface: 2)
    }
    var asked = false
    for place in places { asked = table.apply(.route([place], replaces: false)) || asked }
    #expect(!asked && table.state.isRouted)
    // When all those go that were kept, the others may still be there
    for place in places { asked = table.apply(.routeGone([place])) || asked }
    #expect(asked)
    // And a default route is always kept
    _ = table.apply(.route([Self.way(3)], replaces: false))
    #expect(table.state.interface == "wlp2s0")
  }
}
