extension NetworkRequest {
  /// How urgently an operation wants a slot. Classes share by weight 2 : 5 : 10 : 20, so bulk work never
  /// starves and never delays what is urgent.
  public enum Priority: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    /// Bulk work: keeps at least 5 % of the slots.
    case low
    /// The default.
    case normal
    /// Somebody waits for it.
    case high
    /// Goes first.
    case urgent

    /// By urgency.
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }
}
