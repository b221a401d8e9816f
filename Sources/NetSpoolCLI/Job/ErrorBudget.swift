/// `--max-errors`: how many failures the job puts up with before it stops.
enum ErrorBudget: Equatable, Sendable {
  case unlimited
  /// Stops with the failure after this many; 0 stops at the first.
  case count(Int)
  /// Stops once more than this part of what is finished has failed, judged from `percentFloor` on.
  case percent(Double)

  /// How many must be finished before a percentage means anything.
  static let percentFloor = 100

  /// `20` or `5%`.
  init?(_ text: String) {
    guard let (amount, unit) = splitAmount(text) else { return nil }
    switch unit {
    case "": if let count = Int(text) { self = .count(count) } else { return nil }
    case "%": if amount <= 100 { self = .percent(amount) } else { return nil }
    default: return nil
    }
  }

  func isSpent(failed: Int, finished: Int) -> Bool {
    switch self {
    case .unlimited: false
    case .count(let limit): failed > limit
    case .percent(let limit):
      finished >= Self.percentFloor && Double(failed) * 100 > limit * Double(finished)
    }
  }
}
