import Synchronization

/// A number that several threads may add to.
package final class Counter: Sendable {
  private let number = Atomic(0)

  package init() {}

  package var value: Int { number.load(ordering: .relaxed) }

  package func add(_ amount: Int = 1) { number.wrappingAdd(amount, ordering: .relaxed) }

  /// Adds one and answers the sum.
  package func next() -> Int { number.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }
}
