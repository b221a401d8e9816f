/// The number of a frozen request: strictly increasing in the order of acceptance, never given twice.
package struct FrozenID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let number: UInt64

  package init(_ number: UInt64) { self.number = number }

  package static func < (left: FrozenID, right: FrozenID) -> Bool { left.number < right.number }

  package var description: String { "#\(number)" }
}
