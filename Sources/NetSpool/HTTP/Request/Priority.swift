/// How urgently an operation wants a slot. Classes share slots by weight, so none ever starves.
enum Priority: UInt8, Sendable, CaseIterable, Comparable {
  case low, normal, high, urgent

  static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
}
