internal import Synchronization

extension QueueDriver {
  /// What all loops know, each at its own moment; calls back on the last of them, or at once where none has begun.
  func snapshot(_ done: @escaping @Sendable (NetworkQueue.Snapshot) -> Void) {
    let parts = Parts()
    performEverywhere {
      parts.origins.withLock { [snapshot = $0.snapshot()] in $0 += snapshot.origins }
    } done: { [self] in
      let busiest = parts.origins.withLock { $0 }.sorted { a, b in
        (a.running, a.waiting, b.origin) > (b.running, b.waiting, a.origin)
      }
      done(NetworkQueue.Snapshot(activity: activity, origins: busiest))
    }
  }

  private final class Parts: Sendable {
    let origins = Mutex<[NetworkQueue.OriginSnapshot]>([])
  }
}

/// What the loop knows, for people.
extension Scheduler {
  func snapshot() -> NetworkQueue.Snapshot {
    loop.assertOnLoop()
    let now = MonotonicClock.now
    let connections = pools.connections()
    let all = origins.all.map { snapshot(of: $0, now, connections[$0.text] ?? 0) }
    return NetworkQueue.Snapshot(activity: driver.activity, origins: all)
  }

  private func snapshot(
    of origin: Origin, _ now: Microseconds, _ connections: Int
  ) -> NetworkQueue.OriginSnapshot {
    let health = connectivity?.health(of: origin.id)
    return NetworkQueue.OriginSnapshot(
      origin: origin.text, width: origin.limit, running: context.queue.running(at: origin.id),
      waiting: context.queue.waiting(at: origin.id),
      pace: origin.sizing.startInterval.map { .microseconds($0) },
      quiet: origin.sizing.holdUntil.flatMap { $0 > now ? .microseconds($0 - now) : nil }, health: health,
      connections: connections)
  }
}

extension NetworkEngine.Reachability {
  var rank: Int {
    switch self {
    case .noRoute: 0
    case .originDown: 1
    case .degraded: 2
    case .reachable: 3
    }
  }
}
