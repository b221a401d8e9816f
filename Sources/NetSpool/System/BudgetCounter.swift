internal import Synchronization

/// Counts who has a share of a limit, who waits for one, and since when. Any thread.
final class BudgetCounter: Sendable {
  /// The number of a wait, which is used once.
  typealias Wait = Int

  private struct State {
    var held = 0
    var refused = 0
    var longest: Microseconds = 0
    var waits = WaitingTimes()

    mutating func end(_ wait: Wait, _ now: Microseconds) -> Bool {
      guard let since = waits.end(wait) else { return false }
      longest = max(longest, now - since)
      return true
    }
  }

  private let state = BusyMutex(State())

  func wait() -> Wait {
    let now = MonotonicClock.now
    return state.withLock { $0.waits.begin(now) }
  }

  /// Ends a wait: it has what it waited for, or does not want it any more, or goes away without (`isRefused`). A second
  /// time is nothing.
  func end(_ wait: Wait, isRefused: Bool = false) {
    let now = MonotonicClock.now
    state.withLock { state in
      if state.end(wait, now), isRefused { state.refused += 1 }
    }
  }

  /// Counts a refusal of one that never waited, or waits for more than one thing.
  func refuse() { state.withLock { $0.refused += 1 } }

  func take() { state.withLock { $0.held += 1 } }
  func give() { state.withLock { $0.held -= 1 } }
  var held: Int { state.withLock { $0.held } }

  /// Its wait is over, and it has its share.
  func take(after wait: Wait) {
    let now = MonotonicClock.now
    state.withLock { state in
      _ = state.end(wait, now)
      state.held += 1
    }
  }

  func report(heldMax: Int?) -> NetworkBudget {
    let now = MonotonicClock.now
    return state.withLock { state in
      let current = state.waits.oldest.map { now - $0 } ?? 0
      return NetworkBudget(
        held: state.held, heldMax: heldMax, waiting: state.waits.count, refused: state.refused,
        longestWait: .microseconds(max(state.longest, current)))
    }
  }
}

/// A limit of which parts are taken and given back, and that nothing waits for. Any thread.
final class BudgetRoom: Sendable {
  private let heldMax: Int
  private let held = Atomic(0)
  private let refused = Atomic(0)

  init(_ heldMax: Int) { self.heldMax = heldMax }

  func take(_ count: Int) -> Bool { take(count, atLeast: count) != nil }

  /// Takes so much, or what is left of it if that is enough; nil, and counted as refused: it is not.
  func take(_ count: Int, atLeast least: Int) -> Int? {
    var found = held.load(ordering: .relaxed)
    while true {
      let part = min(count, max(0, heldMax - found))
      guard part >= least else {
        refused.add(1, ordering: .relaxed)
        return nil
      }
      let (isDone, now) = held.weakCompareExchange(expected: found, desired: found + part, ordering: .relaxed)
      if isDone { return part }
      found = now
    }
  }

  func give(_ count: Int) { held.subtract(count, ordering: .relaxed) }

  /// True when so much would fit now.
  func fits(_ count: Int64) -> Bool { count <= Int64(heldMax - held.load(ordering: .relaxed)) }

  /// Takes a part that is given back with the last reference; nil: there is no room.
  func share(_ count: Int) -> Share? { take(count) ? Share(count, of: self) : nil }

  final class Share {
    private let room: BudgetRoom
    private var count: Int

    fileprivate init(_ count: Int, of room: BudgetRoom) { (self.count, self.room) = (count, room) }

    deinit { room.give(count) }

    /// Gives back what is not needed.
    func shrink(to needed: Int) {
      guard needed < count else { return }
      room.give(count - needed)
      count = needed
    }
  }

  var report: NetworkBudget {
    NetworkBudget(
      held: held.load(ordering: .relaxed), heldMax: heldMax, refused: refused.load(ordering: .relaxed))
  }
}

/// Since when each of many has been waiting. They leave about in the order in which they came, so who has waited longest is
/// known without looking at all.
struct WaitingTimes {
  /// When each began, in that order; `gone` once it has ended.
  private(set) var begun: [(number: Int, since: Microseconds)] = []
  /// The first that still waits.
  private var first = 0
  private var next = 0
  private(set) var count = 0

  private static let gone = Microseconds.min
  private static let keptMax = 1024

  /// Answers a number for `end`: 0, 1, 2, …
  mutating func begin(_ now: Microseconds) -> Int {
    defer { next += 1 }
    begun.append((next, now))
    count += 1
    return next
  }

  /// Since when it has waited; nil when it had ended before.
  mutating func end(_ number: Int) -> Microseconds? {
    guard let index = index(of: number), begun[index].since != Self.gone else { return nil }
    let since = begun[index].since
    begun[index].since = Self.gone
    count -= 1
    forgetEnded()
    return since
  }

  var oldest: Microseconds? { count == 0 ? nil : begun[first].since }

  /// Where its number says, or nearer to the front, as some before it may be forgotten.
  private func index(of number: Int) -> Int? {
    guard let start = begun.first?.number, number >= start else { return nil }
    var (low, high) = (0, min(number - start, begun.count - 1))
    if begun[high].number == number { return high }
    while low < high {
      let middle = (low + high) / 2
      if begun[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return begun[low].number == number ? low : nil
  }

  /// Of many that are kept, half still wait: also where the first of them waits for ever.
  private mutating func forgetEnded() {
    if count == 0 {
      begun.removeAll(keepingCapacity: begun.count <= Self.keptMax)
      first = 0
      return
    }
    while begun[first].since == Self.gone { first += 1 }
    guard begun.count >= Self.keptMax, count < begun.count / 2 else { return }
    // A list of its own size: the old one may have room for a rush that is long over.
    begun = begun.filter { $0.since != Self.gone }
    first = 0
  }
}

/// A counter for each device that was written to.
final class DeviceBudgets: Sendable {
  /// At most so many writes at once for each.
  let heldMax: Int
  private let counters = Mutex<[UInt64: BudgetCounter]>([:])

  init(heldMax: Int) { self.heldMax = heldMax }

  func counter(of device: UInt64) -> BudgetCounter {
    counters.withLock { counters in
      if let counter = counters[device] { return counter }
      let counter = BudgetCounter()
      counters[device] = counter
      return counter
    }
  }

  var reports: [UInt64: NetworkBudget] {
    let counters = counters.withLock { $0 }
    return counters.mapValues { $0.report(heldMax: heldMax) }
  }
}
