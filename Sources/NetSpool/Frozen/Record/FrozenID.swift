/// The number of a frozen request: strictly increasing in the order of acceptance, never given twice.
struct FrozenID: Hashable, Comparable, Sendable, CustomStringConvertible {
  let number: UInt64

  init(_ number: UInt64) { self.number = number }

  static func < (left: FrozenID, right: FrozenID) -> Bool { left.number < right.number }

  var description: String { "#\(number)" }
}
