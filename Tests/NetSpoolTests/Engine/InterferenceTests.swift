import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// Something is done to an exchange at a point of which no closure tells (`CallbackTests` has the others): each operation
/// ends once, and others are served. A seed says what chance does.
@Suite("Interference")
struct InterferenceTests {
  /// In the order in which an exchange goes through them.
  enum Point: String, CaseIterable, Sendable { case connecting, handshake, sent, informational, trailers }

  enum Action: String, CaseIterable, Sendable { case cancelItself, cancelOthers, enqueue }

  private static let seeds: ClosedRange<UInt64> = LongRun.isOn ? 1...1_000 : 1...3

  @Test(arguments: Point.allCases, Action.allCases)
  func `leaves one ending each`(_ point: Point, _ action: Action) async throws {
    for seed in Self.seeds { try await interfere(at: point, action, seed) }
  }

  private func interfere(at point: Point, _ action: Action, _ seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let isOnLoop = random.chance(50)
    try await withEngine(
      { $0.delivery = isOnLoop ? .loopThread : .serialQueue }, queue: { $0.sizing = .fixed(4) }
    ) { engine, origin in
      script(origin)
      let (tally, more) = (Tally(), Tally())
      // Given an operation at its point, a little later than at first, by chance, and another one under way
      let place = try Place(point)
      let (subject, other) = (place.operation(engine), engine.operation(path: "/other"))
      for one in [other, subject] { tally.start(one) }
      try await place.reach(origin)
      for _ in 0..<random.below(2_000) { await Task.yield() }
      // When something is done there
      switch action {
      case .cancelItself: subject.cancel()
      case .cancelOthers: if random.chance(50) { engine.cancelAll() } else { other.cancel() }
      case .enqueue: more.start(engine.operation(path: "/more"))
      }
      origin.releaseAll()
      if place.isEndless { subject.cancel() }
      // Then each ends once, and others are served
      await tally.wait(for: 2)
      if action == .enqueue { await more.wait(for: 1) }
      let row: Comment = "\(action) at \(point), seed \(seed)"
      #expect(await engine.get("/plain").end().text == "plain", row)
      #expect(tally.ended == 2 && tally.isOneEach && more.isOneEach, row)
      #expect(more.ended == (action == .enqueue ? 1 : 0), row)
    }
  }

  private func script(_ origin: ScriptedOrigin) {
    origin.on("/plain", .text("plain"))
    origin.on("/more", .text("more"))
    for path in ["/other", "/held"] { origin.hold(path, .text("held")) }
    origin.on("/hints", InformationalTests.hints(then: "Content-Length: 2\r\n\r\nok"))
    origin.on(
      "/trailers",
      .raw([
        .text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n"),
        .gate("trailers"), .text("\r\n"),
      ]))
  }

  /// How an operation is brought to its point.
  private struct Place {
    let point: Point
    private let listening: LocalSocket?
    private let hole: BlackHole?

    init(_ point: Point) throws {
      self.point = point
      listening = point == .handshake ? try LocalSocket.listening() : nil
      hole = point == .connecting ? try BlackHole() : nil
    }

    /// No answer will ever come.
    var isEndless: Bool { listening != nil || hole != nil }

    func operation(_ engine: NetworkEngine) -> NetworkOperation {
      switch point {
      case .connecting: engine.operation(url: "http://127.0.0.1:\(hole?.port ?? 0)/")
      case .handshake: engine.operation(url: "https://127.0.0.1:\(listening?.port ?? 0)/")
      case .sent: engine.operation(path: "/held")
      case .informational: engine.operation(path: "/hints")
      case .trailers: engine.operation(path: "/trailers")
      }
    }

    func reach(_ origin: ScriptedOrigin) async throws {
      switch point {
      case .connecting: break
      case .handshake:
        let hello = try await blocking { [listening] in
          try listening?.accepted(before: .generous).read(before: .generous)
        }
        #expect(hello?.first == 22)  // a handshake's record: RFC 8446 section 5.1
      case .sent: #expect(await origin.waitForHits("/held", 1))
      case .informational: #expect(await origin.waitForWaiting("hints", 1))
      case .trailers: #expect(await origin.waitForWaiting("trailers", 1))
      }
    }
  }
}
