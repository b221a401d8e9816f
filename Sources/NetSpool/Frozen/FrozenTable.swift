/// Values by the ids of requests, like a dictionary, and in the order of the ids.
///
/// Ids come rising, but for what is revived: so the entries stand in an array, where a new one goes to the end and
/// one that is looked for is found by halving. With a million requests that is a fraction of what hashing costs.
struct FrozenTable<Value: Sendable>: Sendable {
  /// The entries in the order of their ids. Those without a value have left; so have all before `head`.
  private var entries: [(id: FrozenID, value: Value?)] = []
  private var head = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

  /// The one with the lowest id.
  var first: (id: FrozenID, value: Value)? {
    guard head < entries.count, let value = entries[head].value else { return nil }
    return (entries[head].id, value)
  }

  var inOrder: some Sequence<(id: FrozenID, value: Value)> {
    entries[head...].lazy.compactMap { entry in entry.value.map { (id: entry.id, value: $0) } }
  }

  subscript(id: FrozenID) -> Value? {
    get { place(of: id).flatMap { entries[$0].value } }
    set {
      if let newValue { put(newValue, at: id) } else { removeValue(forKey: id) }
    }
  }

  @discardableResult
  mutating func removeValue(forKey id: FrozenID) -> Value? {
    guard let place = place(of: id), let value = entries[place].value else { return nil }
    entries[place].value = nil
    count -= 1
    while head < entries.count, entries[head].value == nil { head += 1 }
    if entries.count > 2 * count + 32 { compact() }
    return value
  }

  private mutating func put(_ value: Value, at id: FrozenID) {
    guard let last = entries.last, last.id >= id else {
      entries.append((id, value))
      count += 1
      return
    }
    let place = lowerBound(id)
    if place == entries.count || entries[place].id != id {
      entries.insert((id, value), at: place)
      count += 1
    } else {
      if entries[place].value == nil { count += 1 }
      entries[place].value = value
    }
  }

  private mutating func compact() {
    entries.removeAll { $0.value == nil }
    head = 0
  }

  private func place(of id: FrozenID) -> Int? {
    guard let last = entries.last, last.id >= id else { return nil }
    let place = lowerBound(id)
    return place < entries.count && entries[place].id == id ? place : nil
  }

  /// Finds the first entry that is not before `id`.
  private func lowerBound(_ id: FrozenID) -> Int {
    var (low, high) = (head, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// A heap of moments, the earliest first. Entries that mean nothing any more are the owner's to recognise.
struct DueHeap<Element: Sendable>: Sendable {
  private var entries: [(due: Microseconds, element: Element)] = []

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
