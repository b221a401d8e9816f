import Dispatch
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// How an engine's own origin is, as its operations and looks at it find out. All on 127.0.0.1, where no link counts.
struct OriginReachabilityTests {
  @Test func `nothing is watched until it is asked for`() async throws {
    try await withEngine { engine, origin in
      origin.on("/", .text("ok"))
      #expect(await engine.get("/").end().text == "ok")
      origin.stop()
      #expect(await engine.get("/").end().code == .connectFailed)
      #expect(await engine.isWatching == false)
      #expect(engine.reachability == .reachable)
      #expect(await engine.settledReachability() == .reachable)
      #expect(await engine.isWatching)
    }
  }

  @Test func `engines that listened and are gone leave nothing`() async throws {
    try await withQueue { queue in
      let dead = try BlackHole()
      for number in 0..<1_000 {
        let engine = try NetworkEngine(host: "127.0.\(number / 250).\(1 + number % 250)", on: queue) {
          ($0.port, $0.scheme) = (Int(dead.port), .http)
        }
        engine.onReachabilityChange { _ in }
        _ = await engine.isWatching
      }
      #expect(await queue.onLoop { $0.origins.all.count { $0.users > 0 } } <= 64)
    }
  }

  @Test func `an origin that is down is looked at until it is up`() async throws {
    try await withEngine { engine, origin in
      origin.stop()
      let log = ReachabilityLog(of: engine)
      // When nobody listens
      #expect(await engine.get("/").end().code == .connectFailed)
      await log.becomes(.originDown)
      #expect(!engine.isReachable && engine.reachability == .originDown)
      // And then somebody does
      try origin.start()
      await log.becomes(.reachable)
      // Then a connection told, on which nothing was sent
      #expect(engine.isReachable)
      #expect(log.told == [.originDown, .reachable])
      #expect(origin.requests.isEmpty)
    }
  }

  @Test func `an origin that has just answered is down when it stays away`() async throws {
    try await withEngine({ $0.delivery = .loopThread }) { engine, origin in
      let log = ReachabilityLog(of: engine)
      origin.on("/", .text("ok"))
      #expect(await engine.get("/").end().text == "ok")
      origin.stop()
      #expect(await engine.get("/").end().code == .connectFailed)
      await log.becomes(.originDown)
      #expect(log.told == [.degraded, .originDown])
    }
  }

  @Test(arguments: [502, 503, 504])
  func `an origin that answers for another is degraded`(status: Int) async throws {
    try await withEngine { engine, origin in
      let log = ReachabilityLog(of: engine)
      origin.on("/", .status(status))
      #expect(await engine.get("/").end().code == .status)
      await log.becomes(.degraded)
      #expect(engine.isReachable)
      origin.on("/", .text("ok"))
      for _ in 0..<8 { #expect(await engine.get("/").end().text == "ok") }
      await log.becomes(.reachable)
    }
  }

  @Test(arguments: [404, 500, 429]) func `any other answer is an answer`(status: Int) async throws {
    try await withEngine { engine, origin in
      let log = ReachabilityLog(of: engine)
      origin.on("/", .status(status))
      for _ in 0..<4 { #expect(await engine.get("/").end().code == .status) }
      #expect(await engine.settledReachability() == .reachable)
      #expect(log.told.isEmpty)
    }
  }

  @Test func `what we end says nothing about it`() async throws {
    try await withEngine { engine, origin in
      let log = ReachabilityLog(of: engine)
      origin.hold("/held", .text("ok"))
      for round in 1...4 {
        let operation = engine.start("/held")
        #expect(await origin.waitForHits("/held", round))
        operation.cancel()
        #expect(await operation.end().code == .cancelled)
      }
      #expect(await engine.settledReachability() == .reachable)
      #expect(log.told.isEmpty)
      origin.release("/held", count: 4)
    }
  }

  @Test func `engines of the same kind know what one of them met`() async throws {
    try await withEngine { engine, origin in
      let other = try NetworkEngine(to: origin, on: engine.configuration.queue)
      let stranger = try NetworkEngine(to: origin, on: engine.configuration.queue) {
        $0.proxy = "http://127.0.0.1:\(origin.port)"
      }
      let (log, others) = (ReachabilityLog(of: engine), ReachabilityLog(of: other))
      _ = stranger.reachability
      origin.stop()
      #expect(await engine.get("/").end().code == .connectFailed)
      await log.becomes(.originDown)
      await others.becomes(.originDown)
      // One that goes by a proxy met nothing.
      #expect(await stranger.settledReachability() == .reachable)
    }
  }

  @Test func `an engine without a host watches the link alone`() async throws {
    try await withEngine { engine, origin in
      let free = try NetworkEngine(on: engine.configuration.queue)
      let before = await free.settledReachability()
      origin.stop()
      #expect(await free.end(of: free.operation(url: origin.url())).code == .connectFailed)
      #expect(free.reachability == before)
    }
  }

  @Test func `handlers run where others do and may ask and add more`() async throws {
    let queue = DispatchQueue(label: "tests.reachability")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    try await withEngine({ $0.delivery = .queue(queue) }) { engine, origin in
      origin.stop()
      let isTold = Latch()
      let seen = Journal<Bool>()
      engine.onReachabilityChange { [weak engine] told in
        seen.add(DispatchQueue.getSpecific(key: key) == true)
        seen.add(engine?.reachability == told)
        engine?.onReachabilityChange { _ in }
        isTold.open()
      }
      #expect(await engine.get("/").end().code == .connectFailed)
      await isTold.opened()
      #expect(seen.entries.prefix(2) == [true, true])
    }
  }

  @Test func `changes that come faster than handlers run are told as one`() {
    let board = ReachabilityBoard()
    let told = Journal<NetworkEngine.Reachability>()
    #expect(!board.note(.reachable))
    board.add { told.add($0) }
    // When a change is on its way to the handlers, others need no way of their own
    #expect(board.note(.noRoute))
    #expect(!board.note(.reachable) && !board.note(.originDown))
    #expect(!board.tell())
    #expect(told.entries == [.originDown])
    // And one that was undone is none
    #expect(board.note(.reachable))
    #expect(!board.note(.originDown))
    #expect(!board.tell())
    #expect(told.entries == [.originDown])
  }

  @Test func `a change while handlers run is told afterwards`() {
    let board = ReachabilityBoard()
    let told = Journal<NetworkEngine.Reachability>()
    #expect(!board.note(.reachable))
    // Weakly: it holds its handlers.
    board.add { [weak board] news in
      told.add(news)
      if news == .noRoute { #expect(board?.note(.degraded) == false) }
    }
    #expect(board.note(.noRoute))
    #expect(board.tell())
    #expect(!board.tell())
    #expect(told.entries == [.noRoute, .degraded])
  }

  @Test func `an engine that watches is let go`() async throws {
    try await withQueue { queue in
      weak var watcher: NetworkEngine?
      do {
        let engine = try NetworkEngine(host: "127.0.0.1", on: queue)
        engine.onReachabilityChange { _ in }
        _ = await engine.settledReachability()
        watcher = engine
        #expect(watcher != nil)
        await engine.settle()
      }
      #expect(watcher == nil)
    }
  }
}

extension NetworkEngine {
  /// Whether the queue watches anything at all.
  var isWatching: Bool {
    get async { await homePort.onLoop { $0.connectivity.isWatching } }
  }
}
