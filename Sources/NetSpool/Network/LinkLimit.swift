/// What the link is like for an engine that may use some interfaces only. Pure.
extension InterfaceRule {
  /// The one to send over now; nil: none of those that lead to others may be used. Where the kernel does not tell which do,
  /// the first that is given by its whole name.
  func best(of link: LinkState) -> String? {
    if link == .assumed { return patterns.first { !$0.hasSuffix("*") } }
    return link.interfaces.first(where: allows)
  }
}

extension LinkState {
  /// As it is for an engine that may use only some of the interfaces; nil: all.
  func limited(to rule: InterfaceRule?) -> LinkState {
    guard let rule else { return self }
    guard let name = rule.best(of: self) else { return .unrouted }
    return LinkState(families: families, kind: Kind(interface: name), interface: name)
  }
}
