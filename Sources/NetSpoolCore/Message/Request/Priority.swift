/// How urgently an operation wants a slot. Classes share slots by weight, so none ever starves.
package enum Priority: UInt8, Sendable, CaseIterable, Comparable {
  case low, normal, high, urgent

  package static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
}
