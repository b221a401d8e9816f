internal import Synchronization

/// The places of a queue with several loops: `maximumConcurrent` for all of them together. A loop takes some when it has
/// something to start, and gives back in the same turn what it has not filled. Where none is left loops wait for one in turn,
/// and a loop that gives one back has it brought to the first of those that have none, or else to the first: so a loop with
/// much to do keeps none of them waiting.
final class SharedWidth: Sendable {
  private struct State {
    var limit: Int
    /// Places that each loop has, and all of them.
    var held: [Int]
    var taken = 0
    /// Loops that want one, by their numbers, the first first.
    var waiting: [Int] = []
    /// Exchanges that count for their origins alone, and those of them whose places were lent to engines that had none.
    var aside = 0
    var lent = 0
    /// Engines that wait and have nothing under way.
    var starved = 0

    mutating func move(_ count: Int, to loop: Int) {
      held[loop] += count
      taken += count
    }

    /// Loops that get a place each: first those that have none.
    mutating func grant() -> [Int] {
      var granted: [Int] = []
      while taken < limit, !waiting.isEmpty {
        let loop = waiting.remove(at: waiting.firstIndex { held[$0] == 0 } ?? 0)
        move(1, to: loop)
        granted.append(loop)
      }
      return granted
    }
  }

  private let state: BusyMutex<State>
  // What loops look at for each operation, and the lock is not taken for.
  private let waitingCount = Atomic(0)
  private let isBeyond = Atomic(false)
  private let starvedCount = Atomic(0)
  private let lentCount = Atomic(0)
  private let uncrowdedCount: Atomic<Int>

  init(limit: Int, loops: Int) {
    state = BusyMutex(State(limit: limit, held: Array(repeating: 0, count: loops)))
    uncrowdedCount = Atomic(limit)
  }

  private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    state.withLock { state in
      defer {
        waitingCount.store(state.waiting.count, ordering: .relaxed)
        isBeyond.store(state.taken > state.limit, ordering: .relaxed)
        starvedCount.store(state.starved, ordering: .relaxed)
        lentCount.store(state.lent, ordering: .relaxed)
        uncrowdedCount.store(state.limit - state.taken - state.lent, ordering: .relaxed)
      }
      return body(&state)
    }
  }

  /// A loop waits for a place.
  var isWanted: Bool { waitingCount.load(ordering: .relaxed) > 0 }

  /// Exchanges that may be under way now, at most.
  var occupied: Int { state.withLock { $0.taken + $0.aside } }

  /// Or there is one too many.
  var isScarce: Bool { isWanted || isBeyond.load(ordering: .relaxed) }

  // MARK: Places

  /// So many, or fewer. With none the loop is told when there is one.
  func take(_ wanted: Int, for loop: Int) -> Int {
    change { state in
      let count = min(wanted, state.limit - state.taken)
      guard count > 0 else {
        if !state.waiting.contains(loop) { state.waiting.append(loop) }
        return 0
      }
      state.waiting.removeAll { $0 == loop }
      state.move(count, to: loop)
      return count
    }
  }

  /// Answers how many of them are for the loop itself, whose turn it is.
  ///
  /// - Parameter isContent: it has nothing to start now.
  func give(_ count: Int, of loop: Int, isContent: Bool, _ driver: QueueDriver) -> Int {
    let granted = change { state in
      if isContent { state.waiting.removeAll { $0 == loop } }
      state.move(-count, to: loop)
      return state.grant()
    }
    tell(granted.filter { $0 != loop }, driver)
    return granted.contains(loop) ? 1 : 0
  }

  /// Some go on whatever the limit: they have been there before.
  func exceed(by count: Int, of loop: Int) { change { $0.move(count, to: loop) } }

  func limitDidChange(_ driver: QueueDriver) {
    let granted = change { state in
      state.limit = driver.settings.withLock { $0.maximumConcurrent }
      return state.grant()
    }
    tell(granted, driver)
  }

  private func tell(_ granted: [Int], _ driver: QueueDriver) {
    for number in granted {
      let port = driver.port(of: driver.loops[number])
      let isHeard = port.perform(of: QueueDriver.Command.house) { $0.seats.granted() }
      if !isHeard { change { $0.move(-1, to: number) } }  // it has ended, and so do the others
    }
  }

  // MARK: Engines that have none

  var starved: Int { starvedCount.load(ordering: .relaxed) }
  /// Places that were lent to engines that had none.
  var lent: Int { lentCount.load(ordering: .relaxed) }
  /// Places that no loop has, without those.
  var uncrowded: Int { uncrowdedCount.load(ordering: .relaxed) }

  /// False when as many as may be under way stand aside.
  func standAside() -> Bool {
    change { state in
      guard state.aside < state.limit else { return false }
      state.aside += 1
      return true
    }
  }

  func comeBack() { change { $0.aside -= 1 } }
  func lend(_ count: Int) { change { $0.lent += count } }

  func note(_ change: EngineSeats.Change, of engine: NetworkEngine) {
    self.change { $0.starved += engine.seats.note(change) }
  }
}
