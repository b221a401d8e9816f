import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// As many guests as one likes.
struct ManyEnginesTests {
  @Test func `a hundred engines with a queue each serve and end`() async throws {
    let origin = try ScriptedOrigin(answering: .text("ok"))
    var engines: [NetworkEngine] = []
    // Where code is not optimised, Swift's runtime is asked for types that are known, and under ThreadSanitizer a hundred
    // loops wait in line for its lock: a minute for three hundred requests.
    let count = isSanitized ? 10 : 100
    for _ in 0..<count {
      // Three hundred connects at once to one thread that accepts them: how long that takes is the machine's.
      let engine = try NetworkEngine(to: origin, on: NetworkQueue()) {
        ($0.timeouts.connect, $0.timeouts.headers) = (.seconds(60), .seconds(60))
      }
      engines.append(engine)
    }
    let tally = Tally()
    for engine in engines {
      for number in 0..<3 { tally.start(engine.operation(path: "/\(number)")) }
    }
    await tally.wait(for: 3 * count)
    #expect(tally.count("completed") == 3 * count)
    #expect(tally.isOneEach)
    let queues = engines.map(\.configuration.queue)
    let origins = queues.map(\.budgets.origins)
    #expect(origins.allSatisfy { $0.held == 1 && $0.heldMax == Origins.kept })
    engines = []
    #expect(await blocking { queues.map { $0.driver.close() }.reduce(0, +) } == 0)
  }

  @Test func `engines come and go while others work`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(16) }) { engine, origin in
      let queue = engine.configuration.queue
      origin.fallback(.text("ok"))
      origin.on("/body", .pattern(200_000).header("Cache-Control", "max-age=60"))
      let folder = try TestFolder()
      let tally = Tally()
      try await withThrowingTaskGroup(of: Void.self) { group in
        // One that stays.
        group.addTask {
          for number in 0..<300 { #expect(await engine.get("/\(number % 7)").end().text == "ok") }
        }
        for part in 0..<3 {
          group.addTask {
            for number in 0..<40 {
              // Given one that works, with a cache, and is dropped at once
              let guest = try NetworkEngine(to: origin, on: queue)
              if number % 4 == part {
                let cache = CacheConfiguration(directory: folder["cache"])
                try await blocking { [cache] in try guest.useCache(cache) }
              }
              let operation = guest.operation(path: "/body", parameters: ["n": "\(part) \(number % 5)"])
              tally.start(operation)
              if number % 3 == 0 { operation.cancel() }
            }
          }
        }
        try await group.waitForAll()
      }
      await tally.wait(for: 120)
      #expect(tally.isOneEach && tally.count("completed") + tally.count("cancelled") == 120)
      #expect(await queue.drain())
      #expect(engine.budgets.streams.held == 0 && engine.budgets.deliveries.held == 0)
    }
  }

  /// A pause of nothing, of next to nothing, and for ever: others wait, or do not, and nothing traps.
  @Test(arguments: [Duration.zero, .nanoseconds(1), .seconds(Int64.max)])
  func `a pause at its edges`(_ pause: Duration) async throws {
    try await withEngine({ $0.originPauseMax = pause }, queue: { $0.sizing = .adaptive }) { engine, origin in
      origin.enqueue(.status(429).header("Retry-After", "60"), for: "/a")
      origin.on("/b", .text("b"))
      #expect(await engine.get("/a").end().code == .status)
      let other = engine.start("/b")
      if pause > .seconds(1) {
        _ = await until { engine.configuration.queue.budgets.originPauses.waiting > 0 }
        other.cancel()
        #expect(await other.end().code == .cancelled)
      } else {
        #expect(await other.end().text == "b")
      }
    }
  }

  private func streamed(_ engine: NetworkEngine) -> [NetworkOperation] {
    (0..<4).map { number in
      engine.start(
        engine.operation(path: "/body", parameters: ["n": "\(number)"])
          .addDownloadStream(ClosureDownloadStream { _ in .accepted }))
    }
  }

  /// One, and as many as there are; none: below.
  @Test(arguments: [1, Int.max]) func `room for streams at its edges`(_ streamsMax: Int) async throws {
    try await withEngine { engine, origin in
      engine.homePort.perform { $0.seats.rooms.streamsMax = streamsMax }
      origin.on("/body", .pattern(50_000))
      origin.on("/", .text("ok"))
      let operations = streamed(engine)
      #expect(await engine.get("/").end().text == "ok")
      for operation in operations { #expect(await operation.end().response?.status == 200) }
      #expect(engine.budgets.streams.waiting == 0 && engine.budgets.streams.held == 0)
    }
  }

  private struct Weak { weak var operation: NetworkOperation? }

  @Test func `operations that are cancelled while their engine has no room are kept by nothing`() async throws
  {
    try await withEngine { engine, origin in
      // Given streams for which there is no room, nor will be
      engine.homePort.perform { $0.seats.rooms.streamsMax = 0 }
      origin.on("/", .text("ok"))
      func cancelled() async throws -> [Weak] {
        let operations = streamed(engine)
        #expect(await engine.get("/").end().text == "ok")
        while engine.budgets.streams.waiting < 4 { try await Task.sleep(for: .milliseconds(1)) }
        for operation in operations { operation.cancel() }
        for operation in operations { #expect(await operation.end().code == .cancelled) }
        return operations.map { Weak(operation: $0) }
      }
      // When they are cancelled, then the loop lets go of them
      let left = try await cancelled()
      #expect(await until { left.allSatisfy { $0.operation == nil } } && engine.budgets.streams.refused == 4)
      #expect(engine.budgets.streams.waiting == 0 && engine.budgets.streams.held == 0)
    }
  }

  @Test
  func `an engine that asks a thousand hosts gets no turn at each before another has its own`() async throws {
    // One loop, as each of several has turns of its own.
    let narrow: (inout NetworkQueue.Configuration) -> Void = {
      ($0.maximumConcurrent, $0.loops) = (1, .fixed(1))
    }
    try await withEngine({ $0.delivery = .loopThread }, queue: narrow) { engine, origin in
      origin.on("/", .text("ok"))
      let guest = try NetworkEngine(on: engine.configuration.queue) { $0.delivery = .loopThread }
      let (queue, order) = (engine.configuration.queue, Journal<UInt64>())
      // Given hosts that refuse, and one that answers, which all wait
      queue.isSuspended = true
      let asked = (0..<1_000).map { guest.operation(url: "http://127.1.\($0 / 250).\($0 % 250 + 1):1/") }
      for operation in asked {
        operation.onStateChange { if $0 == .executing { order.add(operation.id) } }
        guest.enqueue(operation)
      }
      let own = engine.operation(path: "/").onStateChange { if $0 == .executing { order.add(0) } }
      engine.enqueue(own)
      while queue.budgets.places.waiting < 1_001 { try await Task.sleep(for: .milliseconds(1)) }
      // When there is one place for all
      queue.isSuspended = false
      #expect(await own.end().text == "ok")
      for operation in asked { #expect(await operation.end().code == .connectFailed) }
      // Then the guest has had one turn, or a few more where one took long enough to lend its place, and not a thousand
      #expect(order.entries.firstIndex(of: 0) ?? .max < 8)
    }
  }

  @Test func `however many hosts are asked at once, one turn makes 32 connections`() async throws {
    var settings = NetworkQueue.Configuration()
    settings.loops = .fixed(1)  // each of several has turns of its own
    let queue = try NetworkQueue(configuration: settings)
    let engine = try NetworkEngine(on: queue) { $0.delivery = .loopThread }
    // Given 200 hosts that refuse, all with a place
    queue.isSuspended = true
    let begun = Counter()
    let asked = (0..<200).map { engine.operation(url: "http://127.2.0.\($0 + 1):1/") }
    for operation in asked {
      operation.onStateChange { if $0 == .executing { begun.add() } }
      engine.enqueue(operation)
    }
    while queue.budgets.places.waiting < 200 { try await Task.sleep(for: .milliseconds(1)) }
    // When somebody looks between any two turns
    let turns = Mutex([0])
    @Sendable func look() {
      queue.driver.perform { _ in
        turns.withLock { $0.append(begun.value) }
        if begun.value < 200 { look() }
      }
    }
    look()
    queue.isSuspended = false
    for operation in asked { #expect(await operation.end().code == .connectFailed) }
    // Then no turn has made more, as libcurl connects in one call all that have begun; a slow one ends before
    let most = turns.withLock { zip($0.dropFirst(), $0).map { $0 - $1 }.max() }
    #expect(try #require(most) <= 32)
  }
}
