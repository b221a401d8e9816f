/// A heap of moments, the earliest first. Entries that mean nothing any more are the owner's to recognise.
struct DueHeap<Element: Sendable>: Sendable {
  private var entries: [(due: Microseconds, element: Element)] = []

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
  var first: (due: Microseconds, element: Element)? { entries.first }

  mutating func insert(_ element: Element, due: Microseconds) {
    entries.append((due, element))
    var child = entries.count - 1
    while child > 0, entries[child].due < entries[(child - 1) / 2].due {
      entries.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  @discardableResult
  mutating func popFirst() -> (due: Microseconds, element: Element)? {
    guard let first = entries.first, let last = entries.popLast() else { return nil }
    if !entries.isEmpty {
      entries[0] = last
      sink()
    }
    return first
  }

  /// Leaves only what still means something.
  mutating func compact(keeping isWanted: (Microseconds, Element) -> Bool) {
    let kept = entries.filter { isWanted($0.due, $0.element) }
    entries.removeAll(keepingCapacity: true)
    for entry in kept { insert(entry.element, due: entry.due) }
  }

  private mutating func sink() {
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < entries.count && entries[child].due < entries[least].due {
        least = child
      }
      if least == parent { return }
      entries.swapAt(parent, least)
      parent = least
    }
  }
}
