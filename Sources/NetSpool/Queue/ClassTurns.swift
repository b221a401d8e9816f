/// Which class starts next: each gets slots by its weight, and an urgent arrival goes first.
///
/// Start-time fair queueing: a turn costs a class virtual time in inverse proportion to its weight, and the
/// class that is due earliest goes, the more urgent one on a tie. Weights: urgent 20, high 10, normal 5, low 2;
/// so low keeps 2/37, more than 5 %, against all others at once. Not smooth weighted round robin: its credits
/// would have to be settled whenever the set of classes changes, and here it changes at almost every turn.
struct ClassTurns: Sendable {
  /// The due time of the last turn given.
  private var clock = 0
  private var due = InlineArray<4, Int>(repeating: 0)

  /// Virtual time of one turn: 20 divided by the weight.
  static func cost(of priority: NetworkRequest.Priority) -> Int {
    switch priority {
    case .urgent: 1
    case .high: 2
    case .normal: 4
    case .low: 10
    }
  }

  /// The class had nothing waiting and now has. An urgent one is due at once, the others after a wait by their
  /// weight: the past owes them nothing. What a class itself overdrew still counts, so elements that arrive
  /// one by one cannot starve the other classes.
  mutating func didArrive(_ priority: NetworkRequest.Priority) {
    let wait = Self.cost(of: priority) - Self.cost(of: .urgent)
    due[Int(priority.rawValue)] = max(due[Int(priority.rawValue)], clock + wait)
  }

  /// Gives the turn to one of the classes that may start now, and charges it.
  ///
  /// A class that could not start though it had work (its origins were full) is at most one turn behind:
  /// enough to be never passed over for ever, too little to hold up an urgent arrival.
  mutating func take(among isReady: InlineArray<4, Bool>) -> NetworkRequest.Priority? {
    var chosen: NetworkRequest.Priority?
    var earliest = Int.max
    for priority in NetworkRequest.Priority.allCases where isReady[Int(priority.rawValue)] {
      let time = max(due[Int(priority.rawValue)], clock - Self.cost(of: priority))
      if time <= earliest { (chosen, earliest) = (priority, time) }
    }
    guard let chosen else { return nil }
    clock = max(clock, earliest)
    due[Int(chosen.rawValue)] = earliest + Self.cost(of: chosen)
    return chosen
  }
}
