/// Connections by the time at which they want to go on, the soonest first: a binary heap.
struct TimerHeap {
  struct Entry {
    let due: ContinuousClock.Instant
    let connection: OriginConnection
  }

  private var entries: [Entry] = []

  var soonest: ContinuousClock.Instant? { entries.first?.due }

  mutating func add(_ connection: OriginConnection, due: ContinuousClock.Instant) {
    entries.append(Entry(due: due, connection: connection))
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].due < entries[parent].due else { return }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  /// Takes the soonest if its time has come.
  mutating func takeDue(_ now: ContinuousClock.Instant) -> Entry? {
    guard let first = entries.first, first.due <= now else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty {
      entries[0] = last
      sink()
    }
    return first
  }

  private mutating func sink() {
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < entries.count else { return }
      if child + 1 < entries.count, entries[child + 1].due < entries[child].due { child += 1 }
      guard entries[child].due < entries[parent].due else { return }
      entries.swapAt(child, parent)
      parent = child
    }
  }
}
