import Glibc
import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// One engine in trouble, another on the same queue.
@Suite(.measured) struct IsolationTests {
  /// Pipes that are full and that nobody reads.
  private func withFullPipes(_ count: Int = 1, _ body: ([Int32]) async throws -> Void) async throws {
    var pipes: [(read: Int32, write: Int32)] = []
    defer {
      for pipe in pipes {
        close(pipe.read)
        close(pipe.write)
      }
    }
    let page = [UInt8](repeating: 0, count: 4096)
    for _ in 0..<count {
      let pipe = try makePipe()
      pipes.append(pipe)
      _ = fcntl(pipe.write, F_SETFL, O_NONBLOCK)
      while unsafe write(pipe.write, page, page.count) > 0 {}
    }
    try await body(pipes.map(\.write))
  }

  /// Origins that take requests and never answer have all of the queue's places.
  @Test func `origins that are silent stop no other`() async throws {
    try await withQueue({
      $0.sizing = .fixed(16)
      $0.maximumConcurrent = 32
    }) { queue in
      let silent = try (0..<3).map { _ in try ScriptedOrigin() }
      var operations: [NetworkOperation] = []
      for origin in silent {
        origin.hold("/")
        let engine = try NetworkEngine(to: origin, on: queue)
        operations += (0..<20).map { _ in engine.operation(path: "/").configure { $0.coalesces = false } }
        engine.enqueue(operations.suffix(20))
      }
      for origin in silent.prefix(2) { #expect(await origin.waitForWaiting("/", 16)) }
      try await expectAnswer(on: queue, within: .milliseconds(100))
      for operation in operations { operation.cancel() }
      for operation in operations { _ = await operation.end() }
      #expect(queue.activity.running == 0)
    }
  }

  /// Whoever asks for less does not wait for those who have asked for much before.
  @Test func `a cancelled operation does not wait for twenty thousand of another engine`() async throws {
    try await withQueue { queue in
      let origin = try ScriptedOrigin()
      origin.hold("/")
      let many = try NetworkEngine(to: origin, on: queue)
      let few = try NetworkEngine(to: origin, on: queue) { $0.delivery = .loopThread }
      let clock = await LoopClock(queue)
      let ended = Journal<Duration>()
      let operations = (0..<20_000).map { _ in many.operation(path: "/").configure { $0.coalesces = false } }
      many.enqueue(operations)
      let one = few.operation(path: "/").configure { $0.coalesces = false }
      one.onFinal { _ in ended.add(clock.now) }
      few.enqueue(one)
      _ = await clock.wait()
      // The loop has not begun with either.
      let goesOn = await queue.heldLoop()
      many.cancelAll()
      few.cancelAll()
      let start = clock.now
      goesOn.open()
      #expect(await one.end().code == .cancelled)
      expect(try #require(ended.entries.first) - start, within: workMax)
      _ = await operations.last?.end()
    }
  }

  /// Commands that came first, twenty thousand of them, are not done first.
  @Test func `an enqueued operation does not wait for twenty thousand of another engine`() async throws {
    try await withQueue({ $0.sizing = .fixed(2) }) { queue in
      let (origin, other) = (try ScriptedOrigin(), try ScriptedOrigin())
      origin.hold("/many")
      other.on("/one", .text("ok"))
      let many = try NetworkEngine(to: origin, on: queue)
      let few = try NetworkEngine(to: other, on: queue) { $0.delivery = .loopThread }
      #expect(await few.get("/one").end().text == "ok")
      let clock = await LoopClock(queue)
      let ended = Journal<Duration>()
      let operations = (0..<20_000).map { _ in
        many.operation(path: "/many").configure { $0.coalesces = false }
      }
      let one = few.operation(path: "/one")
      one.onFinal { _ in ended.add(clock.now) }
      // The loop has not begun with them.
      let goesOn = await queue.heldLoop()
      many.enqueue(operations)
      few.enqueue(one)
      let start = clock.now
      goesOn.open()
      #expect(await one.end().text == "ok")
      expect(try #require(ended.entries.first) - start, within: workMax)
      many.cancelAll()
      _ = await operations.last?.end()
    }
  }

  /// One command that ends twenty thousand operations.
  @Test(arguments: ["cancel", "deadline", "shutDown"])
  func `many that end at once do not hold the loop up`(_ kind: String) async throws {
    try await withQueue { queue in
      let origin = try ScriptedOrigin()
      origin.hold("/")
      let engine = try NetworkEngine(to: origin, on: queue)
      let clock = await LoopClock(queue)
      let operations = (0..<20_000).map { _ in
        engine.operation(path: "/").configure {
          $0.coalesces = false
          if kind == "deadline" { $0.timeouts = .queueDeadline(.seconds(2)) }
        }
      }
      engine.enqueue(operations)
      // Behind all of them
      _ = await clock.wait()
      let longest = await clock.longestWait {
        if kind == "cancel" { engine.cancelAll() }
        if kind == "shutDown" { await engine.shutDown(deadline: .zero) }
        for operation in operations.suffix(20_000 - 64) { #expect(await operation.end().error != nil) }
      }
      expect(longest, within: workMax)
      expect(await clock.longestTurn, within: workMax)
      engine.cancelAll()
      for operation in operations.prefix(64) { _ = await operation.end() }
    }
  }

  /// A body that fits into a stream's buffer, so that its exchange ends, and one that does not.
  @Test(arguments: [10_000, 3 << 20])
  func `64 readers that do not read stop no other request`(_ bytes: Int) async throws {
    try await withQueue({
      $0.sizing = .fixed(64)
      $0.maximumConcurrent = 64
    }) { queue in
      try await withFullPipes(64) { pipes in
        let origin = try ScriptedOrigin()
        origin.on("/body", .pattern(bytes))
        origin.on("/small", .text("small"))
        let engine = try NetworkEngine(to: origin, on: queue)
        let stuck = pipes.enumerated().map { number, pipe in
          engine.operation(path: "/body", parameters: ["n": "\(number)"])
            .addDownloadStream(DescriptorDownloadStream(pipe))
        }
        for operation in stuck { engine.enqueue(operation) }
        #expect(await origin.waitForHits("/body", 64))
        try await expectAnswer(on: queue)
        // So does the engine itself, and no limit ends the readers.
        #expect(await engine.end(of: engine.operation(path: "/small")).text == "small")
        #expect(stuck.allSatisfy { $0.state == .executing })
        for operation in stuck { operation.cancel() }
        for operation in stuck { #expect(await operation.end().code == .cancelled) }
      }
    }
  }

  @Test(arguments: [10_000, 3 << 20])
  func `an engine with its fill of such readers starts no more of them, and goes on with others`(
    _ bytes: Int
  ) async throws {
    try await withQueue({ $0.sizing = .fixed(4) }) { queue in
      let (count, streamsMax) = (40, 16)
      var pipes: [(read: Int32, write: Int32)] = []
      for _ in 0..<count { pipes.append(try makePipe()) }
      queue.driver.eachLoop { $0.seats.rooms.streamsMax = streamsMax }
      let origin = try ScriptedOrigin()
      // More than a pipe takes, so that none is done before it is read.
      let size = max(bytes, 100_000)
      origin.on("/body", .pattern(size))
      origin.on("/small", .text("small"))
      let engine = try NetworkEngine(to: origin, on: queue)
      let operations = pipes.enumerated().map { number, pipe in
        engine.operation(path: "/body", parameters: ["n": "\(number)"])
          .addDownloadStream(DescriptorDownloadStream(pipe.write))
      }
      for operation in operations { engine.enqueue(operation) }
      #expect(await origin.waitForHits("/body", streamsMax))
      #expect(await engine.end(of: engine.operation(path: "/small")).text == "small")
      try await expectAnswer(on: queue)
      #expect(origin.hits("/body") <= streamsMax + 4)
      let full = engine.budgets.streams
      #expect(full.held >= streamsMax && full.waiting > 0, "\(full)")
      // When they begin to read they get their bodies, and those that waited theirs.
      let readers = pipes.map { pipe in Task.detached { await blocking { drain(pipe.read, size) } } }
      for operation in operations { #expect(await operation.end().response?.status == 200) }
      for reader in readers { #expect(await reader.value == size) }
      let empty = engine.budgets.streams
      #expect(empty.held == 0 && empty.waiting == 0 && empty.refused == 0, "\(empty)")
      #expect(empty.longestWait >= full.longestWait)
      for pipe in pipes {
        close(pipe.read)
        close(pipe.write)
      }
    }
  }

  @Test func `only a total that was asked for ends a reader that does not read`() async throws {
    try await withEngine({ $0.delivery = .loopThread }) { engine, origin in
      try await withFullPipes(2) { pipes in
        origin.on("/body", .pattern(3 << 20))
        let patient = engine.operation(path: "/body").addDownloadStream(DescriptorDownloadStream(pipes[0]))
        let hasty = engine.operation(path: "/body", parameters: ["n": "1"])
          .addDownloadStream(DescriptorDownloadStream(pipes[1]))
        hasty.timeouts = .total(.milliseconds(300))
        engine.enqueue(patient)
        let ending = await engine.end(of: hasty)
        #expect(ending.code == .timedOut && ending.reason == "total")
        #expect(patient.state == .executing)
        patient.cancel()
        #expect(await patient.end().code == .cancelled)
      }
    }
  }

  @Test func `a handler that blocks stops its own engine alone`() async throws {
    try await withQueue({ $0.sizing = .fixed(64) }) { queue in
      let origin = try ScriptedOrigin()
      origin.on("/a", .text("ok"))
      let engine = try NetworkEngine(to: origin, on: queue)
      let (gate, tally, count) = (Latch(), Tally(), 6_500)
      tally.start(engine.operation(path: "/a").onCompletion { _ in gate.block() })
      for _ in 1..<count { tally.start(engine.operation(path: "/a").configure { $0.coalesces = false }) }
      // When as many answers wait for its closures as may.
      #expect(await origin.waitForHits("/a", EngineRooms.undeliveredMax))
      while engine.undelivered.load(ordering: .relaxed) < EngineRooms.undeliveredMax {
        try await Task.sleep(for: .milliseconds(1))
      }
      await engine.settle()
      try await expectAnswer(on: queue)
      #expect(origin.hits("/a") < count)
      let full = engine.budgets.deliveries
      #expect(
        full.held >= EngineRooms.undeliveredMax && full.heldMax == EngineRooms.undeliveredMax, "\(full)")
      #expect(full.waiting > 0 && full.longestWait > .zero, "\(full)")
      // Then the rest follows when it lets go.
      gate.open()
      await tally.wait(for: count)
      #expect(tally.count("completed") == count && tally.isOneEach)
      #expect(engine.budgets.deliveries.waiting == 0)
    }
  }

  @Test func `an origin's Retry-After keeps others away no longer than the engine allows`() async throws {
    try await withEngine(
      { ($0.originPauseMax, $0.delivery) = (.milliseconds(200), .loopThread) },
      queue: { $0.sizing = .adaptive }
    ) { engine, origin in
      origin.enqueue(.status(429).header("Retry-After", "3600"), for: "/a")
      origin.on("/b", .text("b"))
      let begin = ContinuousClock.now
      #expect(await engine.end(of: engine.operation(path: "/a")).code == .status)
      try await engine.expectStart("/b", within: .milliseconds(300))
      #expect(ContinuousClock.now - begin >= .milliseconds(100))
    }
  }

  @Test func `an operation that waits for an origin that is held ends with its total`() async throws {
    try await withEngine({ $0.delivery = .loopThread }, queue: { $0.sizing = .adaptive }) { engine, origin in
      origin.enqueue(.status(503).header("Retry-After", "20"), for: "/a")
      origin.on("/b", .text("b"))
      #expect(await engine.end(of: engine.operation(path: "/a")).code == .status)
      let waiting = (0..<3).map { _ in
        engine.operation(path: "/b").configure {
          $0.coalesces = false
          $0.timeouts = .total(.milliseconds(400))
        }
      }
      let limits = waiting.map { engine.enqueue($0, toEndWithin: .milliseconds(500)) }
      let queue = engine.configuration.queue
      // They may have ended before somebody has time to look.
      func areAllThere(_ pauses: NetworkBudget) -> Bool { pauses.waiting + pauses.refused >= 3 }
      while !areAllThere(queue.budgets.originPauses) { try await Task.sleep(for: .milliseconds(1)) }
      #expect(queue.budgets.originPauses.held == 1)
      for operation in waiting {
        let ending = await operation.end()
        #expect(ending.code == .timedOut && ending.reason == "total")
      }
      #expect(limits.allSatisfy { $0.isKept })
      #expect(origin.hits("/b") == 0)
      let pauses = queue.budgets.originPauses
      #expect(pauses.refused == 3 && pauses.longestWait >= .milliseconds(300), "\(pauses)")
    }
  }

  @Test
  func `an operation whose total is shorter than those of all before it ends with it as well`() async throws {
    try await withEngine(
      { ($0.timeouts.total, $0.delivery) = (.seconds(600), .loopThread) }, queue: { $0.sizing = .adaptive }
    ) { engine, origin in
      origin.enqueue(.status(503).header("Retry-After", "20"), for: "/a")
      #expect(await engine.end(of: engine.operation(path: "/a")).code == .status)
      // Given more that have time than are looked at together
      let patient = engine.start((0..<200).map { engine.operation(path: "/patient\($0)") })
      #expect(await until { engine.configuration.queue.budgets.originPauses.waiting >= patient.count })
      // When others come that have little: one to the end of the line, one that is of another priority, one that joins
      let late = ["/late", "/urgent", "/patient0"].map { path in
        let operation = engine.operation(path: path)
        operation.timeouts = .total(.milliseconds(400))
        return operation
      }
      late[1].priority = .urgent
      let limits = late.map { engine.enqueue($0, toEndWithin: .milliseconds(500)) }
      // Then they end, and the others wait
      for operation in late {
        let ending = await operation.end()
        #expect(ending.code == .timedOut && ending.reason == "total", "\(ending)")
      }
      #expect(limits.allSatisfy { $0.isKept })
      #expect(patient.allSatisfy { $0.state == .queued })
      engine.cancelAll()
      for operation in patient { #expect(await operation.end().code == .cancelled) }
    }
  }
}

/// Reads so many bytes; blocks.
private func drain(_ descriptor: Int32, _ count: Int) -> Int {
  var (sum, buffer) = (0, [UInt8](repeating: 0, count: 1 << 16))
  while sum < count {
    let part = unsafe read(descriptor, &buffer, min(count - sum, buffer.count))
    if part <= 0 { break }
    sum += part
  }
  return sum
}
