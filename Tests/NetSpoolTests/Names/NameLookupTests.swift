import NetSpool
import NetSpoolTesting
import Testing

@Suite("Names that are hard to look up", .needsNamespaces, InNamespace())
struct NameLookupTests {
  @Test func failsAtOnceWhenThereIsNoSuchName() async throws {
    try await withNames { names, wire in
      names.set("nobody.test", .notFound)
      let error = try await wire.failure(wire.operation(at: "nobody.test"))
      #expect(error.code == .resolveFailed && error.isRetrySafe && error.reason == "notFound", "\(error)")
    }
  }

  @Test func failsWhenTheServerFails() async throws {
    try await withNames { names, wire in
      names.set("broken.test", .serverFailure)
      let error = try await wire.failure(wire.operation(at: "broken.test"))
      #expect(error.code == .resolveFailed && error.isRetrySafe, "\(error)")
    }
  }

  @Test func givesUpOnASilentServerAtTheConnectLimit() async throws {
    try await withNames { names, wire in
      names.set("silent.test", .silence)
      let operation = wire.operation(at: "silent.test")
      var timeouts = NetworkTimeouts()
      timeouts.connect = 0.3
      operation.timeouts = timeouts
      let start = ContinuousClock.now
      let error = try await wire.failure(operation)
      #expect(error.code == .timedOut && error.reason == "connect", "\(error)")
      #expect(start.duration(to: .now) < .milliseconds(800))
    }
  }

  @Test func findsTheOneOfTwoHundredAddressesThatAnswers() async throws {
    try await withNames { names, wire in
      names.set("many.test", .addresses((1...200).map { NameServer.loopback & 0xFFFF_FF00 + $0 }))
      wire.origin.on("/", .text("hello"))
      let answer = try await wire.answer(wire.operation(at: "many.test"))
      #expect(answer.text == "hello")
    }
  }

  @Test func losesLittleTimeToAnIPv6AddressWhereNobodyAnswers() async throws {
    try await withNames { names, wire in
      names.set("half.test", .withBrokenIPv6(NameServer.loopback))
      wire.origin.on("/", .text("hello"))
      let start = ContinuousClock.now
      let answer = try await wire.answer(wire.operation(at: "half.test"))
      #expect(answer.text == "hello")
      #expect(start.duration(to: .now) < .milliseconds(300))
    }
  }

  @Test func cancelsAtOnceWhileTheServerIsSilent() async throws {
    try await withNames { names, wire in
      // Given as many lookups as there may be, all without an answer, and an origin that is known
      names.setFallback(.silence)
      wire.origin.on("/", .text("hello"))
      _ = try await wire.answer(wire.operation("/"))
      let operations = (0..<500).map { wire.operation(at: "host\($0).test") }
      let tally = Tally()
      for operation in operations {
        tally.watch(operation)
        wire.engine.enqueue(operation)
      }
      #expect(await names.waitForNames(16))
      // When all are cancelled while others use the loop
      async let lag = Self.worstAnswer(wire, count: 200)
      let time = await ContinuousClock().measure {
        for operation in operations { operation.cancel() }
        await tally.wait(for: operations.count)
      }
      // Then they end at once, and nobody has to wait
      #expect(time < .milliseconds(50), "\(time)")
      let worst = try await lag
      #expect(worst < .milliseconds(50), "\(worst)")
      #expect(tally.count("cancelled") == operations.count && tally.isOneEach)
      #expect(names.namesAsked.count == 16)
    }
  }

  @Test func looksSixteenNamesUpAtOnce() async throws {
    try await withNames { names, wire in
      names.setFallback(.silence)
      wire.origin.on("/", .text("hello"))
      let operations = (0..<40).map { wire.operation(at: "host\($0).test") }
      let tally = Tally()
      for operation in operations {
        tally.watch(operation)
        wire.engine.enqueue(operation)
      }
      #expect(await names.waitForNames(16))
      // The loop has gone round many times since: nothing more has started.
      for _ in 0..<50 { _ = try await wire.answer(wire.operation("/")) }
      #expect(names.namesAsked.count == 16)
      // Those that are let go make room for others.
      let asked = names.namesAsked
      for (index, operation) in operations.enumerated() where asked.contains("host\(index).test") {
        operation.cancel()
      }
      #expect(await names.waitForNames(32))
      for operation in operations { operation.cancel() }
      await tally.wait(for: operations.count)
      #expect(tally.isOneEach)
    }
  }

  /// The slowest of so many answers, one after the other.
  private static func worstAnswer(_ wire: Wire, count: Int) async throws -> Duration {
    var worst = Duration.zero
    for _ in 0..<count {
      let start = ContinuousClock.now
      _ = try await wire.answer(wire.operation("/"))
      worst = max(worst, start.duration(to: .now))
    }
    return worst
  }
}

/// A name server, and a wire beside it.
private func withNames(_ body: (NameServer, Wire) async throws -> Void) async throws {
  let names = try NameServer()
  defer { names.stop() }
  try await withWire({ $0.retry = .none }, alone: true) { try await body(names, $0) }
}

extension Wire {
  /// Asks this origin by a name.
  fileprivate func operation(at host: String) -> NetworkOperation {
    engine.operation(url: origin.url("/", host: host))
  }
}
