/// The leases of one snapshot. Those that have ended are used again.
struct LeaseSlots: ~Copyable {
  private var all: [Lease] = []
  /// The first of those to be used again; `Lease.nextFree` is the one behind it.
  private var firstFree = Lease.none
  /// Those whose bytes cannot be moved.
  private(set) var pins = 0
  /// All before it need the map no more; only once no lease is begun any more.
  private var checked = 0

  var count: Int { all.count { $0.isUsed } }

  /// One to begin with; `ended` gives those that have ended since it was asked last.
  mutating func take(for snapshot: Snapshot, ended: () -> Int) -> Lease {
    if firstFree == Lease.none { firstFree = ended() }
    guard firstFree != Lease.none else { return add(snapshot) }
    let lease = all[firstFree]
    firstFree = lease.nextFree
    return lease
  }

  private mutating func add(_ snapshot: Snapshot) -> Lease {
    let lease = Lease(snapshot, number: all.count)
    all.append(lease)
    return lease
  }

  mutating func pin(_ lease: Lease) {
    lease.pin()
    pins += 1
  }

  mutating func unpin() { pins -= 1 }

  /// Copies the bytes of the next lease from a place on out of the map. The place behind it; nil when there is
  /// none.
  func copyOutNext(from start: Int) -> Int? {
    guard start < all.count else { return nil }
    return all[start...].firstIndex { $0.copyOut() }.map { $0 + 1 }
  }

  /// Whether any needs the map, when no further one will begin.
  mutating func needMap() -> Bool {
    while checked < all.count, !all[checked].holdsMap { checked += 1 }
    return checked < all.count
  }
}
