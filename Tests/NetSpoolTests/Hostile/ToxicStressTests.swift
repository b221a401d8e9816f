import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// Thousands of operations through networks whose faults change all the time, to an origin that has its own.
@Suite struct ToxicStressTests {
  private static let count = LongRun.isOn ? 100_000 : 2_000
  private static let wave = 250

  @Test(arguments: [3])
  func `whatever the network does, operations end once`(seed: UInt64) async throws {
    try await withQueue { queue in
      let origin = try ScriptedOrigin()
      for (path, answer) in Self.answers { origin.on(path, answer) }
      let proxies = try (0..<4).map { try FaultProxy(to: origin.port, seed: seed &+ UInt64($0)) }
      let engine = try NetworkEngine(to: origin, on: queue) {
        $0.timeouts.headers = .seconds(1)
        $0.timeouts.stall = .seconds(1)
        $0.delivery = .loopThread
      }
      let tally = Tally()
      var random = SplitMix64(seed: seed)
      for enqueued in stride(from: 0, to: Self.count, by: Self.wave) {
        // Given other toxics for each wave, while earlier ones are still on their way
        for proxy in proxies { try change(proxy, &random) }
        // When it goes out
        for _ in 0..<Self.wave {
          let operation = make(engine, proxies.randomElement(using: &random)!, &random)
          tally.start(operation)
          if random.chance(2) { operation.cancel() }
        }
        await tally.wait(for: enqueued - Self.wave)
      }
      await tally.wait(for: Self.count)
      // Then each operation has had one final event, of every kind there is
      #expect(tally.ended == Self.count && tally.isOneEach, "seed \(seed)")
      for code in [
        "completed", "connectionLost", "bodyTruncated", "truncatedHeaders", "connectFailed", "cancelled",
        "status", "protocolViolation", "redirectCycle", "badChunk", "decodeFailed",
      ] { #expect(tally.count(code) > 0, "no \(code) with seed \(seed)") }
      #expect(queue.drainAndWait(deadline: .seconds(60)))
      // And once the networks are well, so is the engine.
      for proxy in proxies {
        proxy.clear()
        try proxy.start()
        let last = engine.operation(url: proxy.url("/short"))
        last.timeouts = .patient
        #expect(await engine.end(of: last).text == "hello")
      }
    }
  }

  /// What the origin answers; the first three are no faults.
  private static let answers: [(path: String, answer: Answer)] = [
    ("/short", .text("hello")), ("/long", .pattern(30_000)), ("/upload", .text("thanks")),
    ("/error", .status(500)), ("/reset", .pattern(5_000).resetAfter(2_000)),
    ("/cut", .pattern(5_000).closeAfter(2_000)), ("/hangup", .hangUp),
    ("/garbage", .raw("nonsense\r\n\r\n")), ("/loop", .redirect(to: "/loop")),
    ("/chunk", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")),
    ("/coding", .text("no gzip").header("Content-Encoding", "gzip")),
  ]

  private func make(_ engine: NetworkEngine, _ proxy: FaultProxy, _ random: inout SplitMix64)
    -> NetworkOperation
  {
    let operation =
      switch random.next() % 5 {
      case 0, 1: engine.operation(url: proxy.url("/short"))
      case 4: engine.operation(url: proxy.url(Self.answers[3...].randomElement(using: &random)!.path))
      case 2: engine.operation(url: proxy.url("/long"))
      default:
        engine.operation(url: proxy.url("/upload"), method: .put).setBody(.bytes(BodyPattern.bytes(3_000)))
      }
    operation.configure { $0.coalesces = false }
    return operation
  }

  /// Down in one wave of eight; otherwise some toxics, each for some connections.
  private func change(_ proxy: FaultProxy, _ random: inout SplitMix64) throws {
    if random.chance(12) { return proxy.stop() }
    try proxy.start()
    for direction in FaultProxy.Direction.allCases {
      proxy.set((0..<3).map { _ in toxic(&random) }, on: direction)
    }
  }

  private func toxic(_ random: inout SplitMix64) -> Toxic {
    let size = Int(random.next() % 20_000)
    let time = Duration.microseconds(Int64(random.next() % 5_000))
    return switch random.next() % 8 {
    case 0: .latency(time, jitter: time)
    case 1: .bandwidth(bytesPerSecond: 1_000_000 + size * 100)
    case 2: .slowClose(time)
    case 3: .timeout(time * 10).hitting(percent: 20)
    case 4: .reset(after: time * 10).hitting(percent: 30)
    case 5: .reset(atByte: size).hitting(percent: 30)
    case 6: .slicer(bytes: 1 + size / 10, variation: size / 20, pause: time / 50)
    default: .limitData(bytes: random.chance(20) ? size % 100 : size).hitting(percent: 30)
    }
  }
}
