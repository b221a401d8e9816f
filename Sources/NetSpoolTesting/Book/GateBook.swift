/// Gates by name, and who waits at them. A path is a gate that is open until it is held; every other gate is
/// closed until it is released.
struct GateBook {
  private enum Gate {
    case open
    /// Closed, but this many may still pass.
    case closed(permits: Int)
  }

  private var gates: [String: Gate] = [:]
  private(set) var waiting: [String: Int] = [:]
  /// Counts the times everything was released: a stall that began before ends.
  private(set) var releaseCount = 0

  mutating func hold(_ name: String) { gates[name] = .closed(permits: 0) }

  mutating func release(_ name: String) { gates[name] = .open }

  mutating func release(_ name: String, count: Int) {
    if case .open? = gates[name] { return }
    gates[name] = .closed(permits: permits(name) + count)
  }

  mutating func releaseAll() {
    releaseCount += 1
    gates = gates.mapValues { _ in .open }
    for name in waiting.keys { gates[name] = .open }
  }

  func isHeld(_ path: String) -> Bool {
    if case .closed? = gates[path] { return true }
    return false
  }

  /// Passes the gate, using up a permit if there is need of one.
  mutating func pass(_ name: String) -> Bool {
    if case .open? = gates[name] { return true }
    let left = permits(name)
    guard left > 0 else { return false }
    gates[name] = .closed(permits: left - 1)
    return true
  }

  mutating func arrive(_ name: String) { waiting[name, default: 0] += 1 }

  mutating func leave(_ name: String) {
    waiting[name, default: 0] -= 1
    if waiting[name] == 0 { waiting[name] = nil }
  }

  private func permits(_ name: String) -> Int {
    if case .closed(let permits)? = gates[name] { return permits }
    return 0
  }
}
