import NetSpoolTesting
import Testing

@testable import TestSupport

/// An origin and a proxy before it.
private struct Net {
  let origin: ScriptedOrigin
  let proxy: FaultProxy

  init(seed: UInt64 = 1) throws {
    origin = try ScriptedOrigin()
    origin.on("/hello", .text("hello"))
    origin.on("/big", .pattern(300_000))
    origin.on("/closing", .text("hello").closing())
    proxy = try FaultProxy(to: origin.port, seed: seed)
  }

  /// A client, which has asked for a path if there is one.
  func connected(asking path: String? = nil) throws -> RawClient {
    let client = try #require(RawClient(port: proxy.port))
    if let path { client.ask(path) }
    return client
  }

  /// Asks on a connection of its own and reads it to its end.
  func fetch(_ path: String) throws -> (bytes: [UInt8], end: RawClient.End?, time: Duration) {
    let start = ContinuousClock.now
    let client = try connected(asking: path)
    let bytes = client.readToEnd()
    return (bytes, client.end, ContinuousClock.now - start)
  }
}

@Suite("A proxy with faults") struct FaultProxyTests {
  private let net: Net

  init() throws { net = try Net() }

  @Test func `passes everything on without toxics`() throws {
    let client = try net.connected(asking: "/big")
    _ = client.readHead()
    #expect(BodyPattern.matches(client.read(300_000)))
    client.send("POST /hello HTTP/1.1\r\nHost: t\r\nContent-Length: 200000\r\n\r\n")
    client.send(BodyPattern.bytes(200_000))
    #expect(client.readAnswer().body == "hello")
    let sent = try #require(net.origin.requests.last)
    #expect(sent.bodyCount == 200_000 && BodyPattern.matches(sent.body))
    #expect(net.proxy.connectionCount == 1)
    #expect(net.proxy.bytesPassed(.upstream) > 200_000 && net.proxy.bytesPassed(.downstream) > 300_000)
  }

  @Test func `passes the end of each direction on`() async throws {
    #expect(try net.fetch("/closing").end == .closed)
    // A client that has said all it has to say still gets its answer.
    let client = try net.connected(asking: "/hello")
    client.endSending()
    #expect(client.readAnswer().body == "hello")
    #expect(client.readToEnd() == [] && client.end == .closed)
    #expect(await net.origin.waitForOpenConnections(0))
  }

  @Test(arguments: FaultProxy.Direction.allCases)
  func `delays by its latency`(_ direction: FaultProxy.Direction) throws {
    net.proxy.set(.latency(.milliseconds(40)), on: direction)
    let fetched = try net.fetch("/closing")
    #expect(fetched.time >= .milliseconds(40))
    #expect(String(decoding: fetched.bytes, as: UTF8.self).hasSuffix("hello"))
  }

  @Test func `keeps the order under jitter`() throws {
    net.origin.on("/slices", .pattern(300).slice(3, every: .milliseconds(1)))
    net.proxy.set(.latency(.milliseconds(5), jitter: .milliseconds(5)), on: .downstream)
    let client = try net.connected(asking: "/slices")
    _ = client.readHead()
    #expect(BodyPattern.matches(client.read(300)))
  }

  @Test func `keeps to its bandwidth`() throws {
    net.origin.on("/body", .pattern(20_000).closing())
    net.proxy.set(.bandwidth(bytesPerSecond: 100_000), on: .downstream)
    let fetched = try net.fetch("/body")
    #expect(fetched.time >= .milliseconds(180))
    #expect(fetched.bytes.count > 20_000)
  }

  @Test func `closes slowly`() throws {
    net.proxy.set(.slowClose(.milliseconds(60)), on: .downstream)
    let fetched = try net.fetch("/closing")
    #expect(fetched.bytes.suffix(5) == Array("hello".utf8)[...] && fetched.end == .closed)
    #expect(fetched.time >= .milliseconds(60))
  }

  @Test func `lets nothing through and closes`() async throws {
    net.origin.hold("/hello")
    let client = try net.connected(asking: "/hello")
    #expect(await net.origin.waitForHits("/hello", 1))
    let start = ContinuousClock.now
    net.proxy.set(.timeout(.milliseconds(50)), on: .downstream)
    net.origin.release("/hello")
    #expect(client.readToEnd() == [] && client.end == .closed)
    #expect(ContinuousClock.now - start >= .milliseconds(50))
  }

  @Test func `goes on where it stopped when the toxic is taken away`() async throws {
    net.proxy.set(.timeout(nil), on: .downstream)
    let client = try net.connected(asking: "/hello")
    #expect(await net.origin.waitForHits("/hello", 1))
    #expect(net.proxy.bytesPassed(.downstream) == 0)
    net.proxy.clear()
    #expect(client.readAnswer().body == "hello")
  }

  @Test func `spares who comes after the toxic was taken away`() throws {
    for _ in 0..<20 {
      net.proxy.set(.reset(), on: .downstream)
      // Which keep it accepting.
      let hit = try (0..<20).map { _ in try net.connected() }
      net.proxy.clear()
      let client = try net.connected()
      #expect(client.answer(to: "/hello").body == "hello")
      withExtendedLifetime(hit) {}
    }
  }

  @Test func `resets after a while`() async throws {
    let client = try net.connected()
    #expect(client.answer(to: "/hello").body == "hello")
    let start = ContinuousClock.now
    net.proxy.set(.reset(after: .milliseconds(30)), on: .downstream)
    #expect(client.readToEnd() == [] && client.end == .reset)
    #expect(ContinuousClock.now - start >= .milliseconds(30))
    #expect(await net.origin.waitForOpenConnections(0))
  }

  @Test(arguments: [0, 1, 100, 5_000]) func `resets at a byte`(_ count: Int) throws {
    net.proxy.set(.reset(atByte: count), on: .downstream)
    #expect(try net.fetch("/big").end == .reset)
    #expect(net.proxy.bytesPassed(.downstream) == count)
  }

  @Test func `sends slices`() throws {
    net.proxy.set(.slicer(bytes: 7, variation: 3, pause: .milliseconds(20)), on: .downstream)
    let fetched = try net.fetch("/closing")
    #expect(fetched.bytes.suffix(5) == Array("hello".utf8)[...])
    #expect(fetched.time >= .milliseconds(20) * (fetched.bytes.count / 10 - 1))
  }

  @Test(arguments: [0, 1, 100, 5_000]) func `closes after so many bytes`(_ count: Int) throws {
    net.proxy.set(.limitData(bytes: count), on: .downstream)
    let fetched = try net.fetch("/big")
    #expect(fetched.bytes.count == count && fetched.end == .closed)
  }

  @Test func `harms only its direction`() async throws {
    net.proxy.set(.limitData(bytes: 30), on: .upstream)
    let client = try net.connected()
    client.send("POST /hello HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\n")
    #expect(client.readToEnd() == [])
    #expect(net.proxy.bytesPassed(.upstream) == 30)
    // The origin finds out a moment later.
    #expect(await until { net.origin.rejectedCount == 1 } && net.origin.requestCount == 0)
  }

  @Test func `refuses while it is down and comes back on its port`() throws {
    let client = try net.connected()
    #expect(client.answer(to: "/hello").body == "hello")
    net.proxy.stop()
    #expect(client.readToEnd() == [])
    #expect(RawClient(port: net.proxy.port) == nil && net.proxy.openConnections == 0)
    try net.proxy.start()
    #expect(try net.fetch("/closing").end == .closed)
  }

  @Test func `resets who comes while the server is down`() throws {
    net.origin.stop()
    let client = try net.connected(asking: "/hello")
    #expect(client.readToEnd() == [] && client.end == .reset)
  }

  @Test func `hits the same connections for the same seed`() throws {
    func ends(seed: UInt64) throws -> [Bool] {
      let net = try Net(seed: seed)
      net.proxy.set(.limitData(bytes: 0).hitting(percent: 30), on: .downstream)
      return try (0..<60).map { _ in try net.fetch("/closing").bytes.isEmpty }
    }
    let first = try ends(seed: 7)
    #expect(try ends(seed: 7) == first)
    #expect(try ends(seed: 8) != first)
    #expect((5...35).contains(first.count { $0 }))
  }

  @Test func `changes open connections`() throws {
    let client = try net.connected()
    for index in 0..<20 {
      if index % 2 == 0 { net.proxy.set(.slicer(bytes: 1), on: .downstream) } else { net.proxy.clear() }
      #expect(client.answer(to: "/hello").body == "hello")
    }
    net.proxy.set(.reset(), on: .upstream)
    #expect(client.readToEnd() == [] && client.end == .reset)
    #expect(net.proxy.toxics(on: .upstream) == [.reset()])
  }

  @Test func `waits for a slow reader`() async throws {
    net.origin.on("/huge", .pattern(30_000_000))
    let client = try net.connected(asking: "/huge")
    _ = client.readHead()
    #expect(net.proxy.bytesPassed(.downstream) < 20_000_000)
    let body = client.read(30_000_000)
    #expect(body.count == 30_000_000 && BodyPattern.matches(body))
  }
}
