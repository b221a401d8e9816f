internal import CNetSpoolShims

/// The time of a model, instead of the clock's: it stands still until the model has it go on to the next timer. One for each
/// thread, which calls it by `MonotonicClock` like any other.
final class Timeline {
  private(set) var now: Microseconds
  private var entries: [(timer: LoopTimer, due: Microseconds, repeating: UInt64, number: Int)] = []
  private var lastNumber = 0

  init(startingAt now: Microseconds = 1_000_000) {
    self.now = now
    cnetspool_set_model_time(now)
  }

  /// Nothing is due any more.
  var isEmpty: Bool { entries.isEmpty }

  /// Lets go of the thread's time.
  func end() { cnetspool_set_model_time(0) }

  /// Goes on for so long, or to the first timer that is due before; true when that was called.
  func advance(by time: Microseconds = .max) -> Bool {
    let next = entries.indices.min {
      (entries[$0].due, entries[$0].number) < (entries[$1].due, entries[$1].number)
    }
    guard let next, time == .max || entries[next].due <= now + time else {
      if time != .max { set(now + time) }
      return false
    }
    let entry = entries.remove(at: next)
    set(max(now, entry.due))
    if entry.repeating > 0 { start(entry.timer, milliseconds: entry.repeating, repeating: entry.repeating) }
    entry.timer.fire()
    return true
  }

  private func set(_ time: Microseconds) {
    now = time
    cnetspool_set_model_time(time)
  }

  func start(_ timer: LoopTimer, milliseconds: UInt64, repeating: UInt64) {
    stop(timer)
    lastNumber += 1
    entries.append((timer, now + Microseconds(milliseconds) * 1000, repeating, lastNumber))
  }

  func stop(_ timer: LoopTimer) { entries.removeAll { $0.timer === timer } }

  func isActive(_ timer: LoopTimer) -> Bool { entries.contains { $0.timer === timer } }
}
