/// How urgently an operation wants a slot. Classes share by weight 2 : 5 : 10 : 20, so bulk work never
/// starves and never delays what is urgent.
public enum OperationPriority: Sendable, Hashable, CaseIterable, Comparable {
  /// Bulk work: keeps at least 5 % of the slots.
  case low
  /// The default.
  case normal
  /// Somebody waits for it.
  case high
  /// Goes first.
  case urgent

  var core: Priority {
    switch self {
    case .low: .low
    case .normal: .normal
    case .high: .high
    case .urgent: .urgent
    }
  }

  init(_ core: Priority) {
    self =
      switch core {
      case .low: .low
      case .normal: .normal
      case .high: .high
      case .urgent: .urgent
      }
  }
}
