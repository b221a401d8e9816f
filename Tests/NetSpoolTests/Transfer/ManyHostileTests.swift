import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Many connections at once on which hostile origins send as fast as they can, and another engine of the queue.
@Suite("Many hostile connections", .needsPython, .ownThreads, .measured)
struct ManyHostileTests {
  private static let count = 48

  /// Each name is an origin of its own, so that it has a connection of its own, and each is cut off.
  @Test(arguments: ["priority_endless", "empty_data_endless", "unknown_endless"])
  func `keep no request waiting with frames that belong to no body`(_ behaviour: String) async throws {
    let server = try await blocking { try HostileServer.sharedHTTP2() }
    let names = (0..<Self.count).map { "flood\($0).test" }
    try await withWire(
      {
        $0.tls.unsafelyTrustsAnyCertificate = true
        $0.retry = .none
        $0.resolve = Dictionary(uniqueKeysWithValues: names.map { ($0, ["127.0.0.1"]) })
      }, alone: true
    ) { wire in
      wire.queue.sizing = .fixed(64)
      let url = server.url(behaviour)
      let floods = names.map { name in wire.engine.operation(url: url.replacing("localhost", with: name)) }
      try await Self.expectOthersServed(on: wire.queue, beside: floods, of: wire.engine)
    }
  }

  @Test(arguments: ["endless_single_bytes", "tls_endless_single_bytes"])
  func `keep no request waiting with chunks of a byte`(_ behaviour: String) async throws {
    try await withHostileServer(.http1, alone: true) { wire, server in
      wire.queue.sizing = .fixed(64)
      let floods = (0..<Self.count).map {
        wire.engine.operation(url: "\(server.url(behaviour))?\($0)")
          .addDownloadStream(ClosureDownloadStream { _ in .accepted })
      }
      try await Self.expectOthersServed(on: wire.queue, beside: floods, of: wire.engine)
    }
  }

  /// Small GETs of another engine for as long as there are floods, but for two seconds at most.
  private static func expectOthersServed(
    on queue: NetworkQueue, beside floods: [NetworkOperation], of engine: NetworkEngine
  ) async throws {
    let origin = try ScriptedOrigin()
    origin.on("/", .text("ok"))
    let other = try NetworkEngine(to: origin, on: queue) { $0.delivery = .loopThread }
    #expect(await other.get("/").end().text == "ok")
    let (clock, pair) = (await LoopClock(queue), try TestDescriptor.makePair())
    engine.enqueue(floods)
    let deadline = ContinuousClock.now + .seconds(2).patient
    var waits: [Duration] = []
    while waits.count < 9 || ContinuousClock.now < deadline && floods.contains(where: { $0.outcome == nil }) {
      try await other.expectStart("/")
      waits.append(await clock.wait() + clock.wait(forSocket: pair.ours.number))
    }
    waits.sort()
    engine.cancelAll()
    for flood in floods { _ = await flood.end() }
    // What the loop makes a command and a socket wait, but for once, by what it works itself: who sends for ever takes the
    // machine's processors from all others as well, the guard among them.
    expect(waits[waits.count - 2], within: workMax, "\(waits)")
    _ = pair
  }
}
