import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Cables pulled and routes taken away, in network namespaces of each test's own.
@Suite(.enabled(if: Namespace.isPossible, "needs unshare(1) with network namespaces, and ip(8)"))
struct LinkTests {
  private func inside(name: String = #function, _ body: () async throws -> Void) async throws {
    try await Namespace.run("LinkTests", name: name, body)
  }

  /// An engine there whose paths lead to the neighbour's address.
  private func withNeighbour(
    at address: String = Neighbour.address, name: String = #function,
    _ body: (NetworkEngine, Neighbour) async throws -> Void
  ) async throws {
    try await inside(name: name) {
      let neighbour = try Neighbour()
      try await withQueue { queue in
        let engine = try NetworkEngine(host: address, on: queue) {
          ($0.scheme, $0.port, $0.timeouts.connect) = (.http, Int(Neighbour.port), .seconds(30))
        }
        try await body(engine, neighbour)
      }
    }
  }

  @Test func `a cable that is pulled is told and put back is told later`() async throws {
    try await withNeighbour { engine, neighbour in
      #expect(await engine.get("/").end().text == "ok")
      // A link that has just been made may be told of first
      try #require(await engine.isReachableAtLast())
      let log = ReachabilityLog(of: engine)
      // When the link goes
      try Namespace.ip("link set near0 down")
      await log.becomes(.noRoute)
      // Then what is sent fails as offline, and nothing reached the origin
      let error = try #require(await engine.get("/").end().error)
      #expect(error.code == .offline && error.isOffline && error.isRetrySafe && error.reason == "noRoute")
      #expect(!engine.isReachable)
      // When it comes back
      let start = ContinuousClock.now
      try Namespace.ip("link set near0 up")
      await log.becomes(.reachable)
      // Then it counts when it has held, and the origin was never blamed
      #expect(ContinuousClock.now - start >= .seconds(1))
      #expect(await engine.get("/").end().text == "ok")
      #expect(neighbour.hitCount == 2)
      #expect(log.told.drop { $0 == .reachable } == [.noRoute, .reachable])
    }
  }

  @Test func `the other end that goes is a link without a carrier`() async throws {
    try await inside {
      try Namespace.ip("link add near0 type veth peer name far0")
      try Namespace.ip("addr add 192.0.2.2/24 dev near0")
      try Namespace.ip("link set near0 up")
      try Namespace.ip("link set far0 up")
      try await withQueue { queue in
        let engine = try NetworkEngine(on: queue)
        let log = ReachabilityLog(of: engine)
        try #require(await engine.isReachableAtLast())
        try Namespace.ip("link set far0 down")
        await log.becomes(.noRoute)
        try Namespace.ip("link set far0 up")
        await log.becomes(.reachable)
        // And when the whole interface goes
        try Namespace.ip("link del near0")
        await log.becomes(.noRoute)
      }
    }
  }

  @Test func `a route that is taken away is missed and one that is added is found`() async throws {
    try await withNeighbour(at: Neighbour.beyond) { engine, _ in
      // Given a default route alone
      try Namespace.ip("route add default via \(Neighbour.address) dev near0 onlink")
      try Namespace.ip("route del 192.0.2.0/24 dev near0")
      let log = ReachabilityLog(of: engine)
      #expect(await engine.get("/").end().text == "ok")
      // When it is taken away, and later another one is added
      try Namespace.ip("route del default")
      await log.becomes(.noRoute)
      #expect(await engine.get("/").end().code == .offline)
      try Namespace.ip("route add default via \(Neighbour.address) dev near0 onlink metric 7")
      await log.becomes(.reachable)
      #expect(await engine.get("/").end().text == "ok")
      // When its address goes, the kernel drops the route without a word
      try Namespace.ip("addr del 192.0.2.2/24 dev near0")
      await log.becomes(.noRoute)
    }
  }

  @Test func `what was connecting begins anew when the link is back`() async throws {
    try await withNeighbour(at: Neighbour.beyond) { engine, neighbour in
      try Namespace.ip("route add default via \(Neighbour.address) dev near0 onlink")
      let log = ReachabilityLog(of: engine)
      try #require(await engine.isReachableAtLast())
      // Given a connection whose first packet was lost
      try neighbour.ip("addr del \(Neighbour.beyond)/32 dev lo")
      let operation = engine.operation(path: "/")
      operation.timeouts = .init(connect: .seconds(30))
      engine.enqueue(operation)
      #expect(await until { !Self.dialling().isEmpty })
      let first = Self.dialling()
      try Namespace.ip("link set near0 down")
      await log.becomes(.noRoute)
      // When the link is back
      try Namespace.ip("link set near0 up")
      try Namespace.ip("route add default via \(Neighbour.address) dev near0 onlink")
      // Then there is another one, while the kernel would send the first one's packet again and again
      #expect(await until { !Self.dialling().isSubset(of: first) })
      try neighbour.ip("addr add \(Neighbour.beyond)/32 dev lo")
      #expect(await operation.end().text == "ok")
    }
  }

  /// The addresses from which TCP connections are being made.
  private static func dialling() -> Set<Substring> {
    let lines = ((try? TestFiles.text("/proc/self/net/tcp")) ?? "").split(separator: "\n").dropFirst()
    return Set(lines.map { $0.split(separator: " ") }.filter { $0[3] == "02" }.map { $0[1] })
  }

  @Test func `a link that flaps is one change`() async throws {
    try await withNeighbour { engine, _ in
      let log = ReachabilityLog(of: engine)
      try #require(await engine.isReachableAtLast())
      let flaps = (0..<40).flatMap { _ in ["link set near0 down", "link set near0 up"] }
      // However long a busy machine takes for them
      let goesOn = await engine.configuration.queue.heldLoop()
      defer { goesOn.open() }
      try Namespace.batch(flaps + ["link set near0 down"])
      goesOn.open()
      await log.becomes(.noRoute)
      #expect(engine.reachability == .noRoute)
      // The first that is told may be the state before.
      #expect(log.told.drop { $0 == .reachable } == [.noRoute])
    }
  }

  @Test func `messages that were lost are made up for`() async throws {
    try await withNeighbour { engine, _ in
      let log = ReachabilityLog(of: engine)
      try #require(await engine.isReachableAtLast())
      // When the loop does not read while far more changes than the kernel keeps for it
      let goesOn = await engine.configuration.queue.heldLoop()
      defer { goesOn.open() }
      let routes = (0..<4_000).map { "route add 10.\($0 / 250).\($0 % 250).0/24 dev near0" }
      try Namespace.batch(routes + ["route flush dev near0"])
      goesOn.open()
      // Then it knows the end of it
      await log.becomes(.noRoute)
      // And goes on to follow
      try Namespace.ip("route add default via \(Neighbour.address) dev near0 onlink")
      await log.becomes(.reachable)
    }
  }

  @Test func `a storm of changes on a loop whose turns take long is made up for`() async throws {
    try await withNeighbour { engine, _ in
      try #require(await engine.isReachableAtLast())
      let (driver, isOver) = (engine.driver, Flag())
      defer { isOver.set() }
      @Sendable func dawdle() {
        driver.perform { _ in
          usleep(.random(in: 0..<80_000))
          if !isOver.isSet { dawdle() }
        }
      }
      dawdle()
      let routes = (0..<4_000).map { "route add 10.\($0 / 250).\($0 % 250).0/24 dev near0" }
      for round in 0..<6 {
        // When the kernel loses messages also while its tables are read
        for _ in 0..<Int.random(in: 1...4) {
          try Namespace.batch(routes.prefix(.random(in: 10...4_000)) + ["route flush dev near0"])
        }
        // Then the end of it is known
        let isKnown = await until { await engine.homePort.onLoop { !$0.connectivity.linkNow.isRouted } }
        #expect(isKnown, "round \(round)")
      }
    }
  }

  @Test func `without any link this machine is still there`() async throws {
    try await inside {
      #expect(LinkReading.now() == .unrouted)
      try await withEngine { engine, origin in
        origin.on("/", .text("ok"))
        var configuration = engine.configuration
        configuration.timeouts.connect = .seconds(2)
        let far = try NetworkEngine(host: Neighbour.address, configuration: configuration)
        configuration.proxy = "http://127.0.0.1:\(origin.port)"
        let farByProxy = try NetworkEngine(host: Neighbour.address, configuration: configuration)
        #expect(engine.reachability == .reachable && far.reachability == .noRoute)
        try #require(await engine.isReachableAtLast())
        #expect(await far.settledReachability() == .noRoute)
        #expect(await farByProxy.settledReachability() == .reachable)
        #expect(await engine.get("/").end().text == "ok")
        // A port of this machine where nobody listens is no matter of the network
        origin.stop()
        #expect(await engine.get("/").end().code == .connectFailed)
      }
    }
  }

  @Test func `a failure is known to be offline without a question`() async throws {
    try await inside {
      try await withEngine({ $0.timeouts.connect = .seconds(1) }) { engine, _ in
        for url in ["http://192.0.2.1/", "http://[2001:db8::1]/", "http://name.invalid/"] {
          let error = try #require(await engine.end(of: engine.operation(url: url)).error)
          #expect(error.code == .offline && error.isOffline, "\(url): \(error)")
        }
        #expect(await engine.isWatching == false)
      }
    }
  }

  @Test func `the cache stands in without a network`() async throws {
    let folder = try TestFolder()
    try await withNeighbour { engine, _ in
      try engine.useCache(.patient(folder.path))
      #expect(await engine.get("/").end().response?.source == .network)
      try Namespace.ip("link set near0 down")
      let answer = await engine.get("/").end().response
      #expect(answer?.source == .cache && answer?.text == "ok")
      #expect(await engine.get("/other").end().code == .offline)
    }
  }

  @Test func `a queue sized by link is as wide as the link allows`() async throws {
    try await inside {
      for (name, address) in [("eth7", "192.0.2.2"), ("wwan7", "198.51.100.2")] {
        try Namespace.ip("link add \(name) type veth peer name \(name)x")
        try Namespace.ip("addr add \(address)/24 dev \(name)")
        try Namespace.ip("link set \(name) up")
        try Namespace.ip("link set \(name)x up")
      }
      try Namespace.ip("route add default dev wwan7 metric 50")
      // The kernel takes up to a second to say that it has a carrier.
      try #require(await until { LinkReading.now()?.kind == .cellular })
      try await withEngine(queue: { $0.sizing = .byLink(local: 6, cellular: 2) }) { engine, origin in
        origin.hold("/held", .text("ok"))
        let operations = (0..<20).map {
          engine.start(engine.operation(path: "/held", parameters: ["n": "\($0)"]))
        }
        #expect(await origin.waitForWaiting("/held", 2))
        #expect(origin.hits("/held") == 2)
        // When a cable is the better way
        try Namespace.ip("route add default dev eth7 metric 5")
        #expect(await origin.waitForWaiting("/held", 6))
        #expect(origin.hits("/held") == 6)
        origin.release("/held", count: 20)
        for operation in operations { #expect(await operation.end().text == "ok") }
      }
    }
  }
}

extension NetworkEngine {
  /// The kernel takes up to a second to say that a link which was just made has a carrier.
  fileprivate func isReachableAtLast() async -> Bool {
    await until { await self.settledReachability() == .reachable }
  }
}
