import Synchronization

/// A number that several threads may add to.
public final class Counter: Sendable {
  private let number = Atomic(0)

  public init() {}

  public var value: Int { number.load(ordering: .relaxed) }

  public func add(_ amount: Int = 1) { number.wrappingAdd(amount, ordering: .relaxed) }

  /// Adds one and answers the sum.
  public func next() -> Int { number.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }
}
