import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

struct WorkerTests {
  /// One whose jobs do not come back, as on a mount that hangs, keeps nobody else waiting.
  @Test func `has threads for each device`() async {
    let gates = (0..<2).map { _ in Latch() }
    let done = Latch()
    let worker = Worker { completion in completion() }
    // Given both threads of one device inside a job
    for gate in gates {
      worker.run(on: Worker.Lane(device: 1), { gate.block() }, completion: { _ in })
    }
    worker.run(on: Worker.Lane(device: 1), {}, completion: { _ in })
    // When another device has a job, it is done
    worker.run(on: Worker.Lane(device: 2), {}, completion: { _ in done.open() })
    await done.opened()
    for gate in gates { gate.open() }
    worker.stop()
  }

  @Test(arguments: [1, 2, 3], [UInt64(1), 2, 3])
  func `jobs of a lane run in their order, one at a time`(threads: Int, seed: UInt64) throws {
    // Given five lanes and jobs thrown at them at random
    var random = SplitMix64(seed: seed)
    let loop = try SinkLoop()
    let worker = loop.makeWorker(threads: threads)
    let lanes = (0..<5).map { _ in Worker.Lane() }
    let ran = (0..<5).map { _ in Journal<Int>() }
    let completed = (0..<5).map { _ in Journal<Int>() }
    let (inside, overlaps) = ((0..<5).map { _ in Counter() }, Counter())
    // When 500 are submitted
    for job in 0..<500 {
      let lane = Int.random(in: 0..<5, using: &random)
      worker.run(on: lanes[lane]) {
        if inside[lane].add() > 1 { overlaps.add() }
        ran[lane].add(job)
        sched_yield()
        inside[lane].add(-1)
        return job
      } completion: {
        completed[lane].add($0)
      }
    }
    try loop.run { completed.map(\.count).reduce(0, +) == 500 }
    worker.stop()
    // Then each lane has kept its order, in the jobs and in the completions, and none has run two at once
    #expect(overlaps.value == 0, "seed \(seed)")
    for lane in 0..<5 {
      #expect(ran[lane].entries == ran[lane].entries.sorted(), "seed \(seed)")
      #expect(ran[lane].entries == completed[lane].entries, "seed \(seed)")
    }
  }

  @Test func `two lanes run at once`() throws {
    // Given two jobs of which each waits for the other
    let loop = try SinkLoop()
    let worker = loop.makeWorker(threads: 2)
    let (first, second) = (try Gate(), try Gate())
    let met = Journal<Bool>()
    // When both are submitted, then both can end
    for (own, other) in [(first, second), (second, first)] {
      worker.run(on: Worker.Lane()) {
        own.open()
        return other.wait()
      } completion: {
        met.add($0)
      }
    }
    try loop.run { met.count == 2 }
    worker.stop()
    #expect(met.entries == [true, true])
  }

  @Test func `stop runs every job that was submitted`() throws {
    // Given a worker kept busy, with jobs behind
    let loop = try SinkLoop()
    let worker = loop.makeWorker(threads: 1)
    let gate = try Gate()
    let ran = Journal<Int>()
    worker.run(on: Worker.Lane(), { _ = gate.wait() }, completion: {})
    for job in 0..<50 { worker.run(on: Worker.Lane(), { ran.add(job) }, completion: {}) }
    // When it is stopped
    gate.open()
    worker.stop()
    // Then they have run, and one that comes later runs at once
    #expect(ran.entries == Array(0..<50))
    let caller = pthread_self()
    worker.run(on: Worker.Lane()) {
      ran.add(pthread_equal(pthread_self(), caller) != 0 ? 1000 : 0)
    } completion: {
    }
    #expect(ran.entries.last == 1000)
    worker.stop()
  }

  @Test func `every signal is blocked in its threads`() throws {
    let loop = try SinkLoop()
    let worker = loop.makeWorker()
    let found = Journal<Int>()
    worker.run(on: Worker.Lane()) { () -> Bool in
      var mask = sigset_t()
      unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
      return [SIGPIPE, SIGTERM, SIGINT, SIGXFSZ].allSatisfy { unsafe sigismember(&mask, $0) == 1 }
    } completion: {
      found.add($0 ? 1 : 0)
    }
    try loop.run { !found.entries.isEmpty }
    worker.stop()
    #expect(found.entries == [1])
  }

  @Test func `a worker that is let go ends its jobs`() throws {
    let loop = try SinkLoop()
    let ran = Journal<Int>()
    do {
      let worker = loop.makeWorker()
      for job in 0..<20 { worker.run(on: Worker.Lane(), { job }, completion: { ran.add($0) }) }
    }
    try loop.run { ran.count == 20 }
  }
}
