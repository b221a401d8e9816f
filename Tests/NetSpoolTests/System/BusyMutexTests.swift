import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

struct BusyMutexTests {
  /// One thread of the model: where it stands in `cnetspool_lock_take` and `cnetspool_lock_give`.
  private enum Step { case take, look, announce, sleep, asleep, hold, give, wake, done }

  private struct Model: Hashable {
    var word: UInt8 = 0
    var steps: [Step]
    var rounds: [Int]
  }

  @Test func `no interleaving of three threads has two holders or a sleeper that none wakes`() {
    let first = Model(steps: [.take, .take, .take], rounds: [2, 2, 2])
    var (seen, todo): (Set<Model>, [Model]) = ([first], [first])
    var ends = 0
    while let model = todo.popLast() {
      #expect(model.steps.count { $0 == .hold || $0 == .give } <= 1)
      let next = model.steps.indices.flatMap { Self.moves(of: $0, in: model) }
      if next.isEmpty {
        #expect(model.steps.allSatisfy { $0 == .done } && model.word == 0)
        ends += 1
      }
      for each in next where seen.insert(each).inserted { todo.append(each) }
    }
    #expect(ends > 0 && seen.count > 1_000)
  }

  /// The steps that a thread may take next, each of them atomic.
  private static func moves(of thread: Int, in model: Model) -> [Model] {
    func to(_ step: Step, _ change: (inout Model) -> Void = { _ in }) -> Model {
      var next = model
      next.steps[thread] = step
      change(&next)
      return next
    }
    switch model.steps[thread] {
    case .take, .look:
      if model.word == 0 { return [to(.hold) { $0.word = 1 }, to(.announce)] }
      return [to(.look), to(.announce)]
    case .announce: return [to(model.word == 0 ? .hold : .sleep) { $0.word = 2 }]
    case .sleep: return [to(model.word == 2 ? .asleep : .announce)]
    case .asleep: return []  // until another wakes it
    case .hold: return [to(.give)]
    case .give:
      return [
        to(model.word == 2 ? .wake : end(of: thread, in: model)) { next in
          next.word = 0
          if model.word != 2 { next.rounds[thread] -= 1 }
        }
      ]
    case .wake:
      let sleepers = model.steps.indices.filter { model.steps[$0] == .asleep }
      let end = end(of: thread, in: model)
      if sleepers.isEmpty { return [to(end) { $0.rounds[thread] -= 1 }] }
      return sleepers.map { sleeper in
        to(end) { next in
          next.rounds[thread] -= 1
          next.steps[sleeper] = .announce
        }
      }
    case .done: return []
    }
  }

  private static func end(of thread: Int, in model: Model) -> Step {
    model.rounds[thread] > 1 ? .take : .done
  }

  @Test func `sixteen threads lose no step`() async throws {
    let (lock, rounds) = (Shared(), 5_000)
    try await atOnce(16) { _ in
      for _ in 0..<rounds {
        lock.counter.withLock { counts in
          counts[0] += 1
          counts[1] += 1
        }
      }
    }
    #expect(lock.counter.withLock { $0 } == [16 * rounds, 16 * rounds])
  }

  private final class Shared: Sendable {
    let counter = BusyMutex([0, 0])
  }

  @Test func `a lock that is held is not available, and its value goes with it`() {
    final class Thing: Sendable {}
    weak var left: Thing?
    do {
      let mutex = BusyMutex(Thing())
      left = mutex.withLock { $0 }
      let inner: Bool? = mutex.withLock { _ in mutex.withLockIfAvailable { _ in true } }
      #expect(inner == nil && mutex.withLockIfAvailable { _ in true } == true)
      #expect(left != nil)
    }
    #expect(left == nil)
  }
}
