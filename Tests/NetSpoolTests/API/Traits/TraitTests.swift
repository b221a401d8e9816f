import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

#if Metrics
import CoreMetrics
import MetricsTestKit
#endif
#if Tracing
import InMemoryTracing
import Tracing
#endif
#if HTTPTypes
import HTTPTypes
#endif
#if ServiceLifecycle
import ServiceLifecycle
#endif
#if Logging
import Logging
#endif

/// What the traits of the package add; each test is there with its trait only.
@Suite("Traits")
struct TraitTests {
  #if HTTPTypes
  @Test func `requests and responses in the words of HTTPTypes`() async throws {
    try await withEngine { engine, origin in
      origin.fallback {
        Answer.text("\($0.method) \($0.target) \($0.header("X-A") ?? "")").header("X-B", "c")
      }
      var request = HTTPRequest(method: .put, scheme: nil, authority: nil, path: "/a?b=c")
      request.headerFields[HTTPField.Name("X-A")!] = "d"
      let ours = NetworkRequest(request, body: .bytes([1]))
      #expect(ours.httpRequest == request)
      let response = try await engine.response(for: ours)
      #expect(
        response.text == "PUT /a?b=c d" && response.httpResponse.headerFields[HTTPField.Name("X-B")!] == "c")
      #expect(NetworkResponse(response.httpResponse).headers == response.headers)
      let absolute = HTTPRequest(
        method: .get, scheme: "http", authority: "127.0.0.1:\(origin.port)", path: "/")
      #expect(
        NetworkRequest(absolute).url == origin.url("/") && NetworkRequest(absolute).httpRequest == absolute)
      #expect(NetworkRequest(url: "nonsense").httpRequest == nil)
    }
  }
  #endif

  #if ServiceLifecycle
  @Test func `an engine is a service that ends in good order`() async throws {
    try await withEngine { engine, origin in
      origin.hold("/held")
      origin.fallback(.text("hello"))
      let held = engine.start("/held")
      #expect(await origin.waitForWaiting("/held", 1))
      let group = ServiceGroup(services: [engine], logger: Logger(label: "test"))
      let running = Task { try await group.run() }
      await group.triggerGracefulShutdown()
      while await engine.get("/refused").end().code != .engineClosed { await moment() }
      origin.releaseAll()
      try await running.value
      #expect(await held.end().text == "hello" && held.state == .finished)
    }
  }

  @Test func `an engine whose service is cancelled ends at once`() async throws {
    try await withEngine { engine, origin in
      origin.on("/held", .noAnswer)
      let held = engine.start("/held")
      #expect(await origin.waitForRequests(1))
      let running = Task { try await engine.run() }
      running.cancel()
      try await running.value
      #expect(await held.end().code == .engineClosed)
    }
  }
  #endif

  #if Metrics
  /// One for the process: swift-metrics is set up once.
  private static let metrics: TestMetrics = {
    let metrics = TestMetrics()
    MetricsSystem.bootstrap(metrics)
    return metrics
  }()

  @Test func `endings are counted, and queues looked at`() async throws {
    let metrics = Self.metrics
    try await withEngine { engine, origin in
      origin.fallback { $0.path == "/missing" ? .status(404) : .text("hello") }
      for _ in 0..<3 { _ = await engine.get("/a").end() }
      _ = await engine.get("/missing").end()
      origin.stop()
      _ = await engine.get("/gone").end()
      func dimensions(_ rest: [(String, String)]) -> [(String, String)] {
        [("http.request.method", "GET")] + Self.dimensions(of: engine) + rest
      }
      func count(_ rest: (String, String)...) throws -> Int64 {
        try metrics.expectCounter("netspool.requests", dimensions(rest)).totalValue
      }
      let (status, source, error) = ("http.response.status_code", "netspool.source", "error.type")
      // Metrics come behind the handlers.
      #expect(await until { (try? count((error, "connectFailed"))) == 1 })
      #expect(try count((status, "200"), (source, "network")) == 3)
      #expect(try count((status, "404"), (error, "404"), (source, "network")) == 1)
      let ours = dimensions([(status, "200"), (source, "network")])
      for label in ["http.client.request.duration", "netspool.queue.wait"] {
        let timer = try #require(metrics.timers(label: label, dimensions: ours).first)
        #expect(timer.values.count == 3 && timer.values.allSatisfy { $0 > 0 }, "\(label)")
      }
    }
  }

  @Test func `the series of an engine end with it`() async throws {
    let metrics = Self.metrics
    var label: String?
    try await withEngine { engine, origin in
      origin.on("/a", .text("hello"))
      _ = await engine.get("/a").end()
      label = "\(engine.id)"
      #expect(await until { Self.series(of: label, metrics) > 0 })
    }
    #expect(await until { Self.series(of: label, metrics) == 0 })
  }

  private static func series(of engine: String?, _ metrics: TestMetrics) -> Int {
    let all =
      metrics.counters.map(\.dimensions) + metrics.recorders.map(\.dimensions)
      + metrics.timers.map(\.dimensions)
    return all.count { $0.contains { $0.0 == "netspool.engine" && $0.1 == engine } }
  }

  private static func dimensions(of engine: NetworkEngine) -> [(String, String)] {
    let server = engine.home.map { [("server.address", $0.host), ("server.port", "\($0.port)")] } ?? []
    return server + [("netspool.engine", "\(engine.id)")]
  }

  /// The value that a gauge shows at last; nil for none yet.
  private func gauge(_ label: String, of engine: NetworkEngine?) -> Double? {
    try? Self.metrics.expectGauge(label, engine.map(Self.dimensions) ?? []).lastValue
  }

  @Test func `gauges move while an origin is down, and come to rest`() async throws {
    _ = Self.metrics
    let fixture = try FreezingFixture()
    let origin = fixture.origin
    origin.on("/a", Answer.text("hello").header("Cache-Control", "max-age=600"))
    origin.on("/letters", .text("taken"))
    try await withQueue { queue in
      let engine = try NetworkEngine(host: "localhost", on: queue) {
        ($0.scheme, $0.port) = (.http, origin.port)
      }
      try engine.useCache(.init(directory: fixture.folder.path + "/cache"))
      try engine.useFreezing(fixture.configuration)
      for _ in 0..<3 { #expect(try await engine.get("a").text == "hello") }
      #expect(await until { gauge("netspool.origin.connections", of: engine) == 1 })
      #expect(await until { gauge("netspool.cache.hits", of: engine) == 2 })
      #expect(gauge("netspool.origin.width", of: engine) ?? 0 >= 1)
      // The last that a look sets
      #expect(await until { gauge("netspool.frozen.age", of: engine) == 0 })
      #expect(
        gauge("netspool.cache.bytes", of: engine) ?? 0 > 0 && gauge("netspool.frozen.age", of: engine) == 0)
      origin.stop()
      // Nothing ends from here on, and a second passes at least between two looks.
      let letter = engine.letter("/letters")
      _ = await engine.freeze(letter)
      #expect(await until { gauge("netspool.frozen.age", of: engine) ?? 0 >= 1 })
      #expect(gauge("netspool.frozen", of: nil) != nil && gauge("netspool.loop.longest", of: nil) != nil)
      try origin.start()
      #expect(await letter.end().text == "taken")
      #expect(await until { gauge("netspool.frozen.age", of: engine) == 0 })
    }
  }
  #endif

  #if Tracing
  private static let tracer: InMemoryTracer = {
    let tracer = InMemoryTracer()
    InstrumentationSystem.bootstrap(tracer)
    return tracer
  }()

  /// Those with these numbers that have ended.
  private static func spans(_ numbers: [String]) -> [FinishedInMemorySpan] {
    tracer.finishedSpans.filter { numbers.contains($0.spanID) }
  }

  /// An operation and its two exchanges.
  private static func haveEnded(below caller: String) -> Bool {
    let spans = tracer.finishedSpans
    return spans.contains { span in
      span.parentSpanID == caller && spans.count { $0.parentSpanID == span.spanID } == 2
    }
  }

  @Test func `an operation has a span, and each exchange one below it`() async throws {
    let tracer = Self.tracer
    try await withEngine { engine, origin in
      origin.on("/from", .redirect(to: "/to?token=secret"))
      origin.on("/to", .text("hello"))
      try await withSpan("caller \(origin.port)") { _ in
        _ = try await engine.get("from")
      }
      let caller = try #require(
        tracer.finishedSpans.first { $0.operationName == "caller \(origin.port)" })
      // An answer is given first, and then the spans end, in any order
      #expect(await until { Self.haveEnded(below: caller.spanID) })
      let spans = tracer.finishedSpans
      let operation = try #require(
        spans.first { $0.operationName == "NetSpool GET" && $0.parentSpanID == caller.spanID })
      let exchanges = spans.filter { $0.operationName == "GET" && $0.parentSpanID == operation.spanID }
      #expect(exchanges.count == 2 && exchanges.allSatisfy { $0.traceID == caller.traceID })
      #expect(
        exchanges.compactMap { $0.attributes.get("http.response.status_code") } == [.int64(302), .int64(200)])
      #expect(exchanges.allSatisfy { !"\($0.attributes)".contains("secret") })
      let sent = origin.requests.compactMap { $0.header(InMemoryTracer.spanIDKey) }
      #expect(sent == exchanges.map(\.spanID))
      #expect(operation.attributes.get("http.response.status_code") == .int64(200))
    }
  }

  @Test func `each attempt to send a frozen request has a span below that of its operation`() async throws {
    _ = Self.tracer  // set up before the first span begins
    let fixture = try FreezingFixture()
    fixture.origin.enqueue(.status(500), for: "/letter")
    fixture.origin.on("/letter", .text("taken"))
    try await withQueue { queue in
      let engine = try NetworkEngine(to: fixture.origin, on: queue)
      try engine.useFreezing(fixture.configuration)
      #expect(await engine.end(of: engine.letter("/letter")).text == "taken")
      let sent = fixture.origin.requests.compactMap { $0.header(InMemoryTracer.spanIDKey) }
      #expect(sent.count == 2)
      #expect(await until { Self.spans(sent).count == 2 })
      let parents = Self.spans(sent).compactMap(\.parentSpanID)
      let attempts = Self.spans(parents)
      #expect(attempts.map { $0.attributes.get("http.response.status_code") } == [.int64(500), .int64(200)])
      #expect(Set(attempts.map(\.traceID)).count == 1 && Set(attempts.compactMap(\.parentSpanID)).count == 1)
    }
  }
  #endif

  #if Logging
  @Test func `a line of the log has what it says as metadata`() async throws {
    let lines = Journal<Logger.Metadata>()
    try await withEngine {
      var logger = Logger(label: "test") { _ in NotingLog(lines: lines) }
      logger.logLevel = .debug
      $0.logger = logger
    } _: { engine, origin in
      origin.fallback { $0.path == "/missing" ? .status(404) : .text("hello") }
      _ = await engine.get("/a?token=secret").end()
      _ = await engine.get("/missing").end()
      origin.stop()
      _ = await engine.get("/gone").end()
      await engine.shutDown()
      let endings = lines.entries.filter { $0["method"] != nil }
      let origin = "http://127.0.0.1:\(origin.port)"
      #expect(endings.map { $0["origin"] } == ["\(origin)", "\(origin)", "\(origin)"])
      #expect(endings.map { $0["status"] } == ["200", "404", nil])
      #expect(endings.map { $0["source"] } == ["network", "network", nil])
      #expect(endings.map { $0["error"] } == [nil, "status", "connectFailed"])
      #expect(endings.allSatisfy { $0["attempt"] == "1" && Int("\($0["duration"] ?? "")") != nil })
    }
  }
  #endif

  private static let text = Array(String(repeating: "NetSpool ", count: 1_000).utf8)

  private func check(_ coding: String, _ packed: [UInt8], frames: Bool) async throws {
    try await withEngine { engine, origin in
      origin.on("/a", Answer.bytes(packed).header("Content-Encoding", coding))
      origin.on("/cut", Answer.bytes(packed.dropLast()).header("Content-Encoding", coding))
      origin.on("/wrong", Answer.bytes([1, 2, 3, 4, 5, 6]).header("Content-Encoding", coding))
      origin.on("/two", Answer.bytes(packed + packed).header("Content-Encoding", coding))
      let answer = try await engine.get("a")
      #expect([UInt8](answer.body) == Self.text)
      #expect(origin.requests.first?.header("Accept-Encoding")?.contains(coding) == true)
      #expect(await engine.get("/cut").end().reason == "truncated")
      #expect(await engine.get("/wrong").end().code == .decodeFailed)
      let two = await engine.get("/two").end()
      #expect(
        frames ? two.response.map { [UInt8]($0.body) } == Self.text + Self.text : two.reason == "trailingData"
      )
    }
    let headers: NetworkRequest.Headers = ["Content-Encoding": coding]
    for size in 1...packed.count {
      let decoder = try #require(try ContentDecoder.make(for: headers))
      var decoded: [UInt8] = []
      for start in stride(from: 0, to: packed.count, by: size) {
        let piece = Array(packed[start..<min(start + size, packed.count)])
        try decoder.decode(piece.rawBytes) {
          decoded.append($0)
          return true
        }
      }
      try decoder.finish()
      #expect(decoded == Self.text)
    }
    var limits = DecodingLimits()
    limits.ratioFreeBytes = 1_000
    let decoder = try #require(try ContentDecoder.make(for: headers, limits: limits))
    #expect(throws: NetworkError.self) { try decoder.decode(packed.rawBytes) { _ in true } }
  }

  #if Brotli
  @Test func `Brotli is decoded`() async throws {
    let packed: [UInt8] = [
      0x1B, 0x27, 0x23, 0xF8, 0x8D, 0x94, 0xAE, 0xA6, 0x4A, 0xA8, 0x9D, 0xD8, 0xDE, 0xE8, 0x34, 0xC8, 0x54,
      0x19, 0x9C,
      0xF8, 0x2D, 0x18, 0x98, 0xAD, 0x01, 0x40, 0x7B, 0x09,
    ]
    try await check("br", packed, frames: false)
  }
  #endif

  #if Zstd
  @Test func `Zstandard is decoded`() async throws {
    let packed: [UInt8] = [
      0x28, 0xB5, 0x2F, 0xFD, 0x64, 0x28, 0x22, 0x8D, 0x00, 0x00, 0x48, 0x4E, 0x65, 0x74, 0x53, 0x70, 0x6F,
      0x6F, 0x6C,
      0x20, 0x01, 0x00, 0x1C, 0x83, 0x7C, 0x39, 0x02, 0x38, 0x73, 0x4F, 0xBD,
    ]
    try await check("zstd", packed, frames: true)
  }
  #endif
}

#if Logging
private struct NotingLog: LogHandler {
  let lines: Journal<Logger.Metadata>
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.debug
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  init(lines: Journal<Logger.Metadata>) { self.lines = lines }

  func log(event: LogEvent) { lines.add(event.metadata ?? [:]) }
}
#endif
