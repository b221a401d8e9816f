/// A queue from which elements leave in the order in which they came, at constant cost.
package struct FIFO<Element> {
  private var elements: [Element?] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }
  var count: Int { elements.count - head }
  package var first: Element? { isEmpty ? nil : elements[head] }

  package init() {}

  package mutating func append(_ element: Element) { elements.append(element) }

  package mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    defer { compact() }
    let first = elements[head]
    elements[head] = nil
    head += 1
    return first
  }

  private mutating func compact() {
    guard head * 2 >= elements.count else { return }
    elements.removeFirst(head)
    head = 0
  }
}

extension FIFO: Sendable where Element: Sendable {}
