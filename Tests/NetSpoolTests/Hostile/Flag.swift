import Synchronization

/// Something that has happened.
final class Flag: Sendable {
  private let isUp = Mutex(false)
  var isSet: Bool { isUp.withLock { $0 } }
  func set() { isUp.withLock { $0 = true } }
}

/// A growing list that any thread may append to.
final class Collected<Element: Sendable>: Sendable {
  private let list = Mutex<[Element]>([])
  var all: [Element] { list.withLock { $0 } }
  func append(_ element: Element) { list.withLock { $0.append(element) } }
}
