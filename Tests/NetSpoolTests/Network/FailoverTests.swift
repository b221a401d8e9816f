import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// A name with several addresses of which not all lead somewhere.
@Suite struct FailoverTests {
  /// An origin at 127.0.0.1, and at the same port of 127.0.0.2 one that never answers a connection attempt.
  private func withTwo(
    _ addresses: [String], _ configure: @escaping (inout NetworkEngine.Configuration) -> Void = { _ in },
    _ body: (NetworkEngine, ScriptedOrigin) async throws -> Void
  ) async throws {
    try await withEngine({ configuration in
      configuration.delivery = .loopThread
      configuration.timeouts.connect = .seconds(5)
      configure(&configuration)
    }) { engine, origin in
      let hole = try BlackHole(host: 2, port: UInt16(origin.port))
      origin.on("/", .text("hello").closing())
      engine.driver.eachLoop { $0.names.resolver = NameResolver(asking: { _ in addresses }) }
      try await body(engine, origin)
      _ = hole
    }
  }

  @Test
  func `a first address that is dead gives way to the next, which later requests try first`() async throws {
    try await withTwo(["127.0.0.2", "127.0.0.1"]) { engine, origin in
      // Then the list of addresses is turned in time, and stays so
      for time in [1_000, 0] {
        origin.hold("/")
        // Its addresses are looked up before, on another thread.
        let begins = Latch()
        let operation = Self.operation(engine, origin).onStateChange { if $0 == .executing { begins.open() } }
        engine.enqueue(operation)
        await begins.opened()
        let first = await operation.onLoop(after: .milliseconds(time)) {
          operation.loop.origin?.name.addresses.first
        }
        #expect(first == "127.0.0.1")
        origin.release("/")
        #expect(await operation.end().text == "hello")
      }
    }
  }

  @Test func `a body that can be sent once is whole when the second address gets it`() async throws {
    try await withTwo(["127.0.0.2", "127.0.0.1"]) { engine, origin in
      // Given two such bodies that have nothing yet, and a first address that is dead
      let (elements, source) = AsyncStream.makeStream(of: [UInt8].self)
      let once = ScriptedUpload([.bytes([4, 5])], isReopenable: false)
      let begins = Latch()
      let bodies = [NetworkRequest.Body.sequence(elements), .stream(once, contentType: nil)]
      let operations = bodies.map { Self.put($0, engine, origin) }
      operations[0].onStateChange { if $0 == .executing { begins.open() } }
      for operation in operations { engine.enqueue(operation) }
      await begins.opened()
      // When it has given way to the second
      let first = { @Sendable in operations[0].loop.origin?.name.addresses.first }
      #expect(await until { await operations[0].onLoop(after: .zero, first) == "127.0.0.1" })
      source.yield([1, 2, 3])
      source.finish()
      for operation in operations { #expect(await operation.end().text == "hello") }
      // Then nothing is missing
      #expect(Set(origin.requests.map(\.body)) == [[1, 2, 3], [4, 5]])
      #expect(once.opens == 1 && once.closes == 1)
      // And it is not sent again by another request
      #expect(await engine.end(of: Self.put(bodies[0], engine, origin)).code == .uploadSourceFailed)
    }
  }

  @Test func `addresses that the caller gives give way as well`() async throws {
    try await withTwo([], { $0.resolve = ["two.test": ["127.0.0.2", "127.0.0.1"]] }) { engine, origin in
      for _ in 0..<2 {
        let ending = await engine.end(of: engine.operation(url: "http://two.test:\(origin.port)/"))
        #expect(ending.text == "hello", "\(ending)")
      }
    }
  }

  @Test(arguments: ["", "other.test, .sub.test"])
  func `the name of a proxy is looked up, and a dead address of it gives way`(exceptions: String) async throws
  {
    try await withQueue { queue in
      let proxy = try ScriptedOrigin()
      let hole = try BlackHole(host: 2, port: UInt16(proxy.port))
      proxy.fallback(.text("hello").closing())
      let engine = try NetworkEngine(to: proxy, on: queue) { configuration in
        configuration.delivery = .loopThread
        configuration.timeouts.connect = .seconds(5)
        var way = NetworkEngine.Proxy("http://Proxy.test:\(proxy.port)")
        if !exceptions.isEmpty { way = way.except(exceptions) }
        configuration.proxy = way
      }
      engine.driver.eachLoop { scheduler in
        scheduler.names.resolver = NameResolver(asking: { name in
          name.lowercased() == "proxy.test" ? ["127.0.0.2", "127.0.0.1"] : nil
        })
      }
      for _ in 0..<2 {
        let ending = await engine.end(of: engine.operation(url: "http://two.test:\(proxy.port)/"))
        #expect(ending.text == "hello", "\(ending)")
      }
      let unknown = try NetworkEngine(to: proxy, on: queue) { $0.proxy = .init("http://nobody.test:80") }
      let ending = await unknown.end(of: unknown.operation(url: "http://two.test/"))
      #expect(ending.code == .proxyFailed && ending.reason == "connect")
      _ = hole
    }
  }

  /// Pools that nothing uses are closed when there are many; what failed before it came to one is asked for again.
  @Test func `engines with connections of their own, whose host is not found, end in good order`()
    async throws
  {
    try await withQueue { queue in
      let origin = try ScriptedOrigin(answering: .text("hello"))
      let engines = try (0..<80).map { _ in
        try NetworkEngine(to: origin, on: queue) {
          ($0.cookies, $0.delivery, $0.retry) = (
            .inMemory, .loopThread, .attempts(3, pause: .zero)
          )
        }
      }
      engines[0].driver.eachLoop { $0.names.resolver = NameResolver(asking: { _ in nil }) }
      for _ in 0..<3 {
        let lost = engines.map { $0.start($0.operation(url: "http://dead.test/a")) }
        for operation in lost { #expect(await operation.end().code == .resolveFailed) }
        for engine in engines { #expect(await engine.end(of: engine.operation(path: "/a")).text == "hello") }
      }
    }
  }

  @Test func `an address that needs an interface keeps from no other`() async throws {
    try await withEngine { engine, origin in
      origin.fallback(.text("hello"))
      engine.driver.eachLoop { scheduler in
        scheduler.names.resolver = NameResolver(asking: {
          $0 == "near.test" ? ["[fe80::1%lo]", "127.0.0.1"] : ["[fe80::1%lo]"]
        })
      }
      let near = await engine.end(of: engine.operation(url: "http://near.test:\(origin.port)/"))
      #expect(near.text == "hello", "\(near)")
      let far = await engine.end(of: engine.operation(url: "http://far.test:\(origin.port)/"))
      #expect(far.code == .resolveFailed, "\(far)")
    }
  }

  @Test func `many at once turn the list once, and a POST is sent once`() async throws {
    try await withTwo(["127.0.0.2", "127.0.0.1"]) { engine, origin in
      let url = "http://two.test:\(origin.port)/"
      let operations = (0..<8).map { number in
        engine.operation(url: url, method: .post).setBody(.bytes([UInt8](repeating: 7, count: number + 1)))
      }
      for operation in operations { engine.enqueue(operation) }
      for operation in operations {
        let ending = await operation.end()
        #expect(ending.text == "hello" && ending.response?.metrics.attempts == 1)
      }
      #expect(origin.hits("/") == 8)
    }
  }

  @Test func `the limit for connecting holds for all addresses together`() async throws {
    try await withTwo(["127.0.0.2", "127.0.0.2"], { $0.timeouts.connect = .seconds(0.6) }) { engine, origin in
      let (operation, limit) = (Self.operation(engine, origin), LoopLimit(.milliseconds(700)))
      // Its addresses are looked up before, on another thread.
      operation.onStateChange { if $0 == .executing { limit.begin(for: operation) } }
      operation.onFinal { _ in limit.keep() }
      #expect(await engine.end(of: operation).error?.reason == "connect")
      #expect(limit.isKept)
    }
  }

  private static func operation(_ engine: NetworkEngine, _ origin: ScriptedOrigin) -> NetworkOperation {
    engine.operation(url: "http://two.test:\(origin.port)/")
  }

  private static func put(
    _ body: NetworkRequest.Body, _ engine: NetworkEngine, _ origin: ScriptedOrigin
  ) -> NetworkOperation {
    operation(engine, origin).configure { $0.method = .put }.setBody(body)
  }
}
