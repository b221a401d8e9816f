import Synchronization

/// A number that any thread may count up.
final class Counter: Sendable {
  private let number = Atomic(0)

  var value: Int { number.load(ordering: .relaxed) }

  @discardableResult
  func add(_ count: Int = 1) -> Int { number.add(count, ordering: .relaxed).newValue }

  func raise(to value: Int) { number.max(value, ordering: .relaxed) }
}
