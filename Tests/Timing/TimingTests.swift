import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// What is promised in time, by the clock on the wall. What the time stands for, work and turns of the loop, is tested without
/// a clock where each part is; here it is held against what a user's watch shows.
@Suite("Time on the wall", .alone, .serialized, .notSanitized(.timeIsNoMeasure))
struct TimingTests {
  /// What one engine of a queue is at.
  enum Trouble: CaseIterable {
    case endlessBodies, readersThatStop, silentOrigin, blockedHandler, crowdThatLeaves
  }

  @Test(arguments: Trouble.allCases)
  func `another engine is answered within fifty milliseconds`(beside trouble: Trouble) async throws {
    try await withTwoEngines { engine, other, origin in
      let latch = Latch()
      defer { latch.open() }
      let operations = try await begin(trouble, engine, origin, latch)
      try await Machine.measures(
        {
          var times: [Duration] = []
          if trouble == .crowdThatLeaves { engine.cancelAll() }
          for _ in 0..<9 {
            let answer = try await other.response(for: other.operation(path: "/small"))
            times.append(answer.metrics.endToEnd)
          }
          return times.sorted()[4]
        }, within: .milliseconds(50), "\(trouble)")
      engine.cancelAll()
      _ = operations
    }
  }

  private func begin(
    _ trouble: Trouble, _ engine: NetworkEngine, _ origin: ScriptedOrigin, _ latch: Latch
  ) async throws -> [NetworkOperation] {
    engine.configuration.queue.sizing = .fixed(16)
    let path = "/\(trouble)"
    let count =
      switch trouble {
      case .crowdThatLeaves: 20_000
      case .blockedHandler: 1
      // Enough to keep a loop busy; the origin's own work for more would take the processors from it
      case .endlessBodies: 3
      case .readersThatStop, .silentOrigin: 8
      }
    let operations = (0..<count).map { engine.operation(path: path, parameters: ["n": "\($0)"]) }
    switch trouble {
    case .endlessBodies:
      origin.on(path, .pattern(1 << 40))
      for operation in operations { operation.addDownloadStream(ClosureDownloadStream { _ in .accepted }) }
    case .readersThatStop:
      origin.on(path, .pattern(1 << 20))
      for operation in operations { operation.addDownloadStream(ClosureDownloadStream { _ in .pause }) }
    case .silentOrigin, .crowdThatLeaves: origin.hold(path)
    case .blockedHandler:
      origin.on(path, .text("ok"))
      operations[0].onCompletion { _ in latch.block() }
    }
    engine.enqueue(operations)
    #expect(await origin.waitForHits(path, min(count, 8)))
    return operations
  }

  enum Limit: String, CaseIterable { case connect, headers, stall, total, totalOfReaderThatStops }

  @Test(arguments: Limit.allCases)
  func `a limit of time ends an operation within a tenth of a second`(_ limit: Limit) async throws {
    let hole = try BlackHole()
    try await withTwoEngines { engine, _, origin in
      origin.on("/headers", .noAnswer)
      origin.on("/stall", .pattern(10_000).stallAfter(5_000))
      origin.on("/total", .pattern(1 << 20).throttle(100_000))
      origin.on("/totalOfReaderThatStops", .pattern(3 << 20))
      let url = limit == .connect ? "http://127.0.0.1:\(hole.port)/" : origin.url("/\(limit)")
      var timeouts = NetworkRequest.Timeouts()
      let time = Duration.milliseconds(300)
      switch limit {
      case .connect: timeouts.connect = time
      case .headers: timeouts.headers = time
      case .stall: timeouts.stall = time
      case .total, .totalOfReaderThatStops: timeouts.total = time
      }
      try await Machine.measures(
        { [timeouts] in
          let operation = engine.operation(url: url)
          operation.timeouts = timeouts
          if limit == .totalOfReaderThatStops {
            operation.addDownloadStream(ClosureDownloadStream { _ in .pause })
          }
          return await self.timeToFail(operation, engine, .timedOut)
        }, within: time + .milliseconds(100), "\(limit)")
    }
  }

  @Test func `an operation that is cancelled ends within fifty milliseconds`() async throws {
    try await withTwoEngines { engine, _, origin in
      origin.hold("/held")
      try await Machine.measures(
        {
          let (operation, isOver, hits) = (engine.operation(path: "/held"), Latch(), origin.hits("/held"))
          operation.onError { _ in isOver.open() }
          engine.enqueue(operation)
          #expect(await origin.waitForHits("/held", hits + 1))
          let start = ContinuousClock.now
          operation.cancel()
          await isOver.opened()
          return ContinuousClock.now - start
        }, within: .milliseconds(50), "cancel")
    }
  }

  @Test func `a full queue refuses within a millisecond`() async throws {
    try await withTwoEngines({ $0.limits.operationsQueuedMax = 10 }) { engine, _, origin in
      origin.hold("/held")
      engine.enqueue((0..<10).map { engine.operation(path: "/held", parameters: ["n": "\($0)"]) })
      #expect(await origin.waitForHits("/held", 1))
      try await Machine.measures(
        {
          var times: [Duration] = []
          for number in 0..<101 {
            let refused = engine.operation(path: "/more", parameters: ["n": "\(number)"])
            times.append(await self.timeToFail(refused, engine, .queueFull))
          }
          return times.sorted()[50]
        }, within: .milliseconds(1), "a refusal")
      engine.cancelAll()
    }
  }

  /// A balancer with a part of its replicas down says 503 at random, and means nobody in particular.
  @Test
  func `frozen requests of which a third is refused once are sent about as fast as with other failures`()
    async throws
  {
    let other = try await timeToSend(refusing: 500)
    try await Machine.measures(
      { try await self.timeToSend(refusing: 503) }, within: other * 3 + .seconds(1),
      "a hundred frozen requests")
  }

  /// A hundred frozen requests, thirty of which the origin answers with a failure once.
  private func timeToSend(refusing status: Int) async throws -> Duration {
    let folder = try TestFolder(in: TestFiles.fast)
    var freezing = FreezeConfiguration()
    freezing.directory = folder.path + "/frozen"
    freezing.backoffBase = .zero
    var time = Duration.zero
    try await withTwoEngines { engine, _, origin in
      for number in 0..<100 {
        origin.on("/\(number)", .text("taken"))
        if number * 37 % 100 < 30 { origin.enqueue(.status(status), for: "/\(number)") }
      }
      try engine.useFreezing(freezing)
      let (start, taken, isOver) = (ContinuousClock.now, Counter(), Latch())
      let letters = (0..<100).map { number in
        let letter = engine.operation(path: "/\(number)", method: .post)
        letter.isFreezable = true
        letter.setBody(.bytes([1]))
        letter.onFinal { result in
          #expect(result.error == nil)
          if taken.add() == 100 { isOver.open() }
        }
        return letter
      }
      engine.enqueue(letters)
      await isOver.opened()
      time = ContinuousClock.now - start
    }
    return time
  }

  /// From its sending to the closure that is told.
  private func timeToFail(
    _ operation: NetworkOperation, _ engine: NetworkEngine, _ code: NetworkError.Code
  ) async -> Duration {
    let (ends, isOver) = (Journal<ContinuousClock.Instant>(), Latch())
    operation.onFinal { result in
      ends.add(.now)
      #expect(result.error?.code == code)
      isOver.open()
    }
    let start = ContinuousClock.now
    engine.enqueue(operation)
    await isOver.opened()
    return ends.entries[0] - start
  }

  /// Two engines of a queue, one that has trouble and one that has none, and their origin.
  private func withTwoEngines(
    _ configure: (inout NetworkEngine.Configuration) -> Void = { _ in },
    _ body: (NetworkEngine, NetworkEngine, ScriptedOrigin) async throws -> Void
  ) async throws {
    try await TestSlots.run(alone: true) {
      let origin = try ScriptedOrigin()
      origin.on("/small", .text("ok"))
      var configuration = NetworkEngine.Configuration()
      configuration.queue = try NetworkQueue()
      configuration.scheme = .http
      configuration.port = origin.port
      let other = try NetworkEngine(host: "127.0.0.1", configuration: configuration)
      configure(&configuration)
      let engine = try NetworkEngine(host: "127.0.0.1", configuration: configuration)
      try await body(engine, other, origin)
      await blocking { engine.shutDownAndWait(deadline: .seconds(5)) }
    }
  }
}

extension Result where Failure == NetworkError {
  fileprivate var error: NetworkError? { if case .failure(let error) = self { error } else { nil } }
}
