extension NetworkEngine.Reachability {
  /// - Parameters:
  ///   - needsRoute: false for an origin on this machine.
  ///   - health: nil when there is no one origin to ask about.
  init(_ link: LinkState, needsRoute: Bool, health: OriginHealth.State?) {
    if needsRoute, !link.isRouted {
      self = .noRoute
      return
    }
    self =
      switch health {
      case .down: .originDown
      case .degraded: .degraded
      case .reachable, nil: .reachable
      }
  }

  /// An attempt may well succeed.
  var maySend: Bool { self == .reachable || self == .degraded }
}
