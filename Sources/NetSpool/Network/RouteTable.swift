/// Links, addresses and routes as the kernel told of them, and what follows from them.
///
/// Messages are only half of the truth: when a link is switched off or loses its last address, the kernel drops
/// IPv4 routes without a word about each. `apply` therefore drops the routes of such a link itself, and says when
/// the tables should be read anew.
struct RouteTable: Equatable, Sendable {
  /// Routes and addresses kept besides default routes. A router has a million; a few say as much.
  static let entriesMax = 1024

  private(set) var links: [Int32: NetlinkLink] = [:]
  private var addresses: Set<NetlinkAddress> = []
  private var routes: Set<NetlinkRoute> = []
  /// Some were not kept.
  private var isPartial = false

  /// True when something may have changed that no message tells.
  mutating func apply(_ content: NetlinkMessage.Content) -> Bool {
    switch content {
    case .link(let link): return update(link)
    case .linkGone(let index): return forget(index)
    case .address(let address): insert(address)
    case .addressGone(let address): return addresses.remove(address) != nil
    case .route(let ways, let replaces): insert(ways, replaces: replaces)
    case .routeGone(let ways): return remove(ways)
    case .done, .refused, .overrun, .other: break
    }
    return false
  }

  private mutating func update(_ link: NetlinkLink) -> Bool {
    let wasUp = links.updateValue(link, forKey: link.index)?.isUp ?? false
    guard wasUp, !link.isUp else { return false }
    routes = routes.filter { $0.interface != link.index }
    return true
  }

  private mutating func forget(_ index: Int32) -> Bool {
    guard links.removeValue(forKey: index) != nil else { return false }
    routes = routes.filter { $0.interface != index }
    addresses = addresses.filter { $0.interface != index }
    return true
  }

  private mutating func insert(_ address: NetlinkAddress) {
    if addresses.count < Self.entriesMax { addresses.insert(address) } else { isPartial = true }
  }

  private mutating func insert(_ ways: [NetlinkRoute], replaces: Bool) {
    if replaces, let first = ways.first { routes = routes.filter { !$0.rivals(first) } }
    for way in ways {
      if way.isDefault || routes.count < Self.entriesMax { routes.insert(way) } else { isPartial = true }
    }
  }

  private mutating func remove(_ ways: [NetlinkRoute]) -> Bool {
    var hasRemoved = false
    for way in ways where routes.remove(way) != nil { hasRemoved = true }
    // Those that were not kept may still be there.
    return isPartial && hasRemoved && !state.isRouted
  }

  // MARK: What follows

  var state: LinkState {
    let addressed = addressedFamilies
    let working = routes.filter { addressed.contains($0.family) && leadsToOthers($0) }
    let best = Dictionary(grouping: working, by: \.interface).values.compactMap { $0.min(by: Self.isBetter) }
    let names = best.sorted(by: Self.isBetter).map { links[$0.interface]?.name ?? "" }
    guard let name = names.first else { return .unrouted }
    return LinkState(
      families: Set(working.map(\.family)), kind: LinkState.Kind(interface: name), interface: name,
      interfaces: names)
  }

  /// An address on any link will do, the loopback's own included: links may be unnumbered.
  private var addressedFamilies: Set<IPFamily> {
    Set(addresses.filter { links[$0.interface]?.isUp ?? false }.map(\.prefix.family))
  }

  private func leadsToOthers(_ route: NetlinkRoute) -> Bool {
    guard let link = links[route.interface] else { return false }
    return link.isUp && link.isRunning && !link.isLoopback
  }

  /// Default routes first, then IPv4, then by weight; the rest only so that the answer is always the same.
  private static func isBetter(_ left: NetlinkRoute, _ right: NetlinkRoute) -> Bool {
    if left.isDefault != right.isDefault { return left.isDefault }
    if left.family != right.family { return left.family == .ipv4 }
    if left.metric != right.metric { return left.metric < right.metric }
    return left.interface < right.interface
  }
}

/// An address block: a family, the address as one number, and how many of its bits count.
struct IPPrefix: Hashable, Sendable {
  let family: IPFamily
  let high: UInt64
  let low: UInt64
  let length: UInt8

  init(_ family: IPFamily, high: UInt64 = 0, low: UInt64 = 0, length: UInt8) {
    self.family = family
    self.high = high
    self.low = low
    self.length = length
  }

  /// Takes an attribute's bytes, the most significant first; missing ones are zero, more than 16 are ignored.
  init(_ family: IPFamily, _ bytes: RawSpan, length: UInt8) {
    var (high, low): (UInt64, UInt64) = (0, 0)
    for index in 0..<min(bytes.byteCount, 16) {
      let byte = UInt64(bytes.byte(at: index))
      if index < 8 { high |= byte << UInt64(56 - 8 * index) } else { low |= byte << UInt64(120 - 8 * index) }
    }
    self.init(family, high: high, low: low, length: length)
  }

  /// Only the own link is behind it (RFC 3927, RFC 4291 section 2.5.6), or a group (RFC 5771, RFC 4291 section 2.7).
  var staysOnLink: Bool {
    guard length > 0 else { return false }
    switch family {
    case .ipv4: return high >> 48 == 0xA9FE || high >> 60 == 0xE
    case .ipv6: return high >> 54 == 0x3FA || high >> 56 == 0xFF
    }
  }
}
