/// What the kernel says about the way to others, for `netspool doctor`.
package struct LinkReport: Sendable, Hashable {
  /// `IPv4`, `IPv6`: those with an address and a route.
  package let families: [String]
  /// Of the default route; nil without a route.
  package let interface: String?
  /// A radio modem or a dialled line: `.byLink` runs narrower on it.
  package let isCellular: Bool

  /// Nil when the kernel does not tell.
  package static var now: LinkReport? {
    guard let link = LinkReading.now() else { return nil }
    let names: [(IPFamily, String)] = [(.ipv4, "IPv4"), (.ipv6, "IPv6")]
    return LinkReport(
      families: names.filter { link.families.contains($0.0) }.map(\.1),
      interface: link.interface.isEmpty ? nil : link.interface, isCellular: link.kind == .cellular)
  }
}
