internal import Synchronization

/// Operations that wait for others to end, on whatever loops of whatever queues. Any thread.
extension NetworkOperation {
  /// Of the process. Only operations with dependencies take its lock.
  static let dependencies = Mutex(DependencyGraph<NetworkOperation>())

  var hasDependencies: Bool { shared.withLock { !$0.isPlain && !$0.rare.dependencies.isEmpty } }

  /// The one that closes a cycle fails, and waits for nothing: so there is never one.
  func wait(behind other: NetworkOperation) {
    if engine.driver.isOfParent || state != .ready { return }
    guard Self.dependencies.withLock({ $0.add(id, after: other.id) }) else {
      return fail(NetworkError(.invalidRequest, reason: "a cycle of dependencies"))
    }
    shared.withLock { $0.rare.dependencies.append(other) }
    let hasEnded = other.shared.withLock { shared in
      shared.hasDependents = true
      return shared.outcome != nil
    }
    if hasEnded { other.leaveDependencies() }
  }

  /// It has ended, or will never begin: those that waited for it alone go on, on a loop some in each turn. Returns what it
  /// waited for, and holds it no longer.
  @discardableResult
  func leaveDependencies(on scheduler: Scheduler? = nil) -> [NetworkOperation] {
    let edges = engine.driver.isOfParent ? [] : Self.dependencies.withLock { $0.remove(id) }
    if let scheduler, !scheduler.context.isClosing {
      scheduler.context.forEach(of: edges, Self.cut)
    } else {
      edges.forEach(Self.cut)
    }
    return shared.withLock { shared in
      if shared.isPlain { return [] }
      defer { shared.rare.dependencies = [] }
      return shared.rare.dependencies
    }
  }

  private static func cut(_ edge: DependencyGraph<NetworkOperation>.Edge) {
    guard let next = dependencies.withLock({ $0.cut(edge) }) else { return }
    next.perform { scheduler in
      guard case .waiting(.others) = next.loop.phase else { return }
      if next.engine.isOver { return scheduler.withdraw(next, NetworkError(.engineClosed)) }
      scheduler.go(next, from: .enter)
    }
  }
}
