import Glibc
import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// One engine in trouble, another on the same queue.
@Suite(.measured) struct IsolationTests {
  /// Pipes that are full and that nobody reads.
  private func withFullPipes(_ count: Int, _ body: ([Int32]) async throws -> Void) async throws {
    let pipes = try (0..<count).map { _ in try RawPipe() }
    let page = [UInt8](repeating: 0, count: 4096)
    for pipe in pipes {
      _ = fcntl(pipe.writeEnd, F_SETFL, O_NONBLOCK)
      while unsafe write(pipe.writeEnd, page, page.count) > 0 {}
    }
    try await body(pipes.map(\.writeEnd))
    withExtendedLifetime(pipes) {}
  }

  /// Origins that take requests and never answer have all of the queue's places.
  @Test func `origins that are silent stop no other`() async throws {
    try await withQueue({ $0.maximumConcurrent = 32 }) { queue in
      let silent = try (0..<3).map { _ in try ScriptedOrigin() }
      var operations: [NetworkOperation] = []
      for origin in silent {
        origin.hold("/")
        let engine = try NetworkEngine(to: origin, on: queue)
        operations += engine.start(engine.apart(20))
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
    try await withEngine { many, origin in
      origin.hold("/")
      let queue = many.configuration.queue
      let few = try NetworkEngine(to: origin, on: queue) { $0.delivery = .loopThread }
      let clock = await LoopClock(queue)
      let ended = Journal<Duration>()
      let operations = many.start(many.apart(20_000))
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
      let operations = many.apart(20_000, "/many")
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
    try await withEngine { engine, origin in
      origin.hold("/")
      let clock = await LoopClock(engine.configuration.queue)
      let operations = engine.apart(20_000)
      if kind == "deadline" {
        for operation in operations { operation.timeouts = .queueDeadline(.seconds(2)) }
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
    try await withEngine(queue: { ($0.sizing, $0.maximumConcurrent) = (.fixed(64), 64) }) { engine, origin in
      try await withFullPipes(64) { pipes in
        origin.on("/body", .pattern(bytes))
        origin.on("/small", .text("small"))
        let whole = Counter()
        let stuck = engine.start(
          pipes.enumerated().map { number, pipe in
            engine.operation(path: "/body", parameters: ["n": "\(number)"])
              .addDownloadStream(DescriptorDownloadStream(pipe))
              .onDownloadProgress { if $0.fraction == 1 { whole.add() } }
          })
        #expect(await origin.waitForHits("/body", 64))
        if bytes == 10_000 { #expect(await until { whole.value >= 64 }, "exchanges that have ended") }
        try await expectAnswer(on: engine.configuration.queue)
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
    try await withEngine(queue: { $0.sizing = .fixed(4) }) { engine, origin in
      let (count, streamsMax) = (40, 16)
      let pipes = try (0..<count).map { _ in try makePipe() }
      engine.driver.eachLoop { $0.seats.rooms.streamsMax = streamsMax }
      // More than a pipe takes, so that none is done before it is read.
      let size = max(bytes, 100_000)
      origin.on("/body", .pattern(size))
      origin.on("/small", .text("small"))
      let operations = engine.start(
        pipes.enumerated().map { number, pipe in
          engine.operation(path: "/body", parameters: ["n": "\(number)"])
            .addDownloadStream(DescriptorDownloadStream(pipe.write))
        })
      #expect(await origin.waitForHits("/body", streamsMax))
      #expect(await engine.end(of: engine.operation(path: "/small")).text == "small")
      try await expectAnswer(on: engine.configuration.queue)
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

  @Test func `a handler that blocks stops its own engine alone`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(64) }) { engine, origin in
      origin.on("/a", .text("ok"))
      let (gate, tally, count) = (Latch(), Tally(), 6_500)
      tally.start(engine.operation(path: "/a").onCompletion { _ in gate.block() })
      for operation in engine.apart(count - 1, "/a") { tally.start(operation) }
      // When as many answers wait for its closures as may.
      let most = EngineRooms.undeliveredMax
      #expect(await origin.waitForHits("/a", most))
      #expect(await until { engine.undelivered.load(ordering: .relaxed) >= most })
      await engine.settle()
      try await expectAnswer(on: engine.configuration.queue)
      #expect(origin.hits("/a") < count)
      let full = engine.budgets.deliveries
      #expect(full.held >= most && full.heldMax == most, "\(full)")
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
      let waiting = engine.apart(3, "/b")
      for operation in waiting { operation.timeouts = .total(.milliseconds(400)) }
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
        engine.operation(path: path).configure { $0.timeouts = .total(.milliseconds(400)) }
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
