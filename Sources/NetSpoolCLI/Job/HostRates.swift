/// `--per-host-rate`: gives each host's fetches their times, at least one interval apart. Pure; nanoseconds.
struct HostRates: Equatable, Sendable {
  /// The number of hosts that are remembered. With more of them the next ones wait until the first may be asked again.
  static let hostsMax = 65_536

  private let interval: Int64
  /// When each host may be asked next; who is not here may be at once.
  private var next: [String: Int64] = [:]
  private let hostsMax: Int

  init(perSecond: Double, hostsMax: Int = hostsMax) {
    interval = Int64((1e9 / perSecond).rounded(.up))
    self.hostsMax = hostsMax
  }

  /// The next time that is free for the host, which is taken by that.
  mutating func reserve(_ host: String, now: Int64) -> Int64 {
    var time = max(now, next[host] ?? now)
    if next[host] == nil, next.count >= hostsMax { time = makeRoom(now) }
    next[host] = time + interval
    return time
  }

  /// Forgets who may be asked at once, or else the first who may be.
  private mutating func makeRoom(_ now: Int64) -> Int64 {
    next = next.filter { $0.value > now }
    guard next.count >= hostsMax, let first = next.min(by: { $0.value < $1.value }) else { return now }
    next[first.key] = nil
    return first.value
  }
}

/// What waits for its time, the first first.
struct HeldItems {
  private var items: [(time: Int64, item: FetchItem)] = []

  var count: Int { items.count }
  var isEmpty: Bool { items.isEmpty }
  /// When the first is due.
  var due: Int64? { items.last?.time }

  mutating func add(_ item: FetchItem, at time: Int64) {
    // The last is the first: those of one time keep their order.
    var (low, high) = (0, items.count)
    while low < high {
      let middle = (low + high) / 2
      if items[middle].time > time { low = middle + 1 } else { high = middle }
    }
    items.insert((time, item), at: low)
  }

  mutating func take(now: Int64) -> FetchItem? {
    guard let due, due <= now else { return nil }
    return items.removeLast().item
  }

  mutating func removeAll() { items.removeAll() }
}
