import Glibc
import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// One exchange that something is done to, at one of its points.
struct Interference: Sendable {
  /// In the order in which an exchange goes through them.
  enum Point: String, CaseIterable, Sendable {
    case queued, resolving, connecting, handshake, sending, sent, informational, head, body, trailers
    case finished, ending
  }

  enum Action: String, CaseIterable, Sendable { case cancelItself, cancelOthers, enqueue }

  let point: Point
  let action: Action
  let seed: UInt64

  func run() async throws {
    var random = SplitMix64(seed: seed)
    let isOnLoop = random.chance(50)
    try await withEngine(
      { $0.delivery = isOnLoop ? .loopThread : .serialQueue }, queue: { $0.sizing = .fixed(4) }
    ) { engine, origin in
      script(origin)
      let trigger = InterferenceTrigger(skips: Int.random(in: 0..<8, using: &random), of: point)
      let (tally, more) = (Tally(), Tally())
      // Given an operation at its point, and another one under way
      let place = try Place(point)
      let subject = place.operation(engine, origin, trigger)
      let other = engine.operation(path: "/other")
      for one in [subject, other] { tally.watch(one) }
      let all = random.chance(50)
      trigger.arm { act(engine, subject, other, more, all: all) }
      engine.enqueue([other, subject])
      // When something is done there
      try await place.reach(origin, trigger, spins: Int.random(in: 0..<2_000, using: &random))
      await trigger.fired.opened()
      origin.releaseAll()
      if place.isEndless { subject.cancel() }
      // Then each ends once, and others are served
      await tally.wait(for: 2)
      if action == .enqueue { await more.wait(for: 1) }
      #expect(await engine.get("/plain").end().text == "plain", "\(self)")
      #expect(tally.ended == 2 && tally.isOneEach && more.isOneEach, "\(self)")
      #expect(more.ended == (action == .enqueue ? 1 : 0), "\(self)")
      trigger.disarm()
    }
  }

  private func act(
    _ engine: NetworkEngine, _ subject: NetworkOperation, _ other: NetworkOperation, _ more: Tally, all: Bool
  ) {
    switch action {
    case .cancelItself: subject.cancel()
    case .cancelOthers: if all { engine.cancelAll() } else { other.cancel() }
    case .enqueue: more.start(engine.operation(path: "/more"))
    }
  }

  private func script(_ origin: ScriptedOrigin) {
    origin.on("/plain", .text("plain"))
    origin.on("/more", .text("more"))
    origin.on("/body", .pattern(80_000).slice(10_000))
    for path in ["/other", "/held"] { origin.hold(path, .text("held")) }
    origin.on("/hints", InformationalTests.hints(then: "Content-Length: 2\r\n\r\nok"))
    origin.on(
      "/trailers",
      .raw([
        .text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n"),
        .gate("trailers"), .text("\r\n"),
      ]))
  }
}

extension Interference {
  /// How an operation is brought to its point.
  struct Place {
    let point: Point
    private let listening: LocalSocket?
    private let hole: BlackHole?

    init(_ point: Point) throws {
      self.point = point
      listening = point == .handshake ? try LocalSocket.listening() : nil
      hole = point == .connecting ? try BlackHole() : nil
    }

    /// Nobody will ever answer.
    var isEndless: Bool { listening != nil || hole != nil }

    func operation(_ engine: NetworkEngine, _ origin: ScriptedOrigin, _ trigger: InterferenceTrigger)
      -> NetworkOperation
    {
      let operation =
        switch point {
        case .resolving: engine.operation(url: origin.url("/plain", host: Self.hostName))
        case .connecting: engine.operation(url: "http://127.0.0.1:\(hole?.port ?? 0)/")
        case .handshake: engine.operation(url: "https://127.0.0.1:\(listening?.port ?? 0)/")
        case .sending: engine.operation(path: "/plain", method: .put).setUploadStream(trigger)
        case .sent: engine.operation(path: "/held")
        case .informational: engine.operation(path: "/hints")
        case .trailers: engine.operation(path: "/trailers")
        case .head, .body: engine.operation(path: "/body").addDownloadStream(trigger)
        case .queued, .finished, .ending: engine.operation(path: "/plain")
        }
      follow(operation, trigger)
      return operation
    }

    private func follow(_ operation: NetworkOperation, _ trigger: InterferenceTrigger) {
      let point = point
      operation.onStateChange { state in
        switch state {
        case .queued where point == .queued, .executing where point == .resolving: trigger.fire()
        case .finished where point == .finished, .cancelled where point == .finished: trigger.fire()
        default: break
        }
      }
      operation.onCompletion { _ in if point == .ending { trigger.fire() } }
    }

    /// For the points that no closure of the user's tells of; a little later than the first moment, by chance.
    func reach(_ origin: ScriptedOrigin, _ trigger: InterferenceTrigger, spins: Int) async throws {
      switch point {
      case .sent: #expect(await origin.waitForHits("/held", 1))
      case .informational: #expect(await origin.waitForWaiting("hints", 1))
      case .trailers: #expect(await origin.waitForWaiting("trailers", 1))
      case .connecting: break
      case .handshake:
        let hello = try await blocking { [listening] in
          try listening?.accepted(before: .generous).read(before: .generous)
        }
        #expect(hello?.first == 22)  // a handshake's record: RFC 8446 section 5.1
      default: return
      }
      for _ in 0..<spins { await Task.yield() }
      trigger.fire()
    }

    /// One that is looked up, in the system's own files.
    private static let hostName: String = {
      var name = [CChar](repeating: 0, count: 256)
      guard unsafe gethostname(&name, name.count - 1) == 0 else { return "localhost" }
      return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }()
  }
}

extension Interference: CustomStringConvertible {
  var description: String { "\(action) at \(point), seed \(seed)" }
}
