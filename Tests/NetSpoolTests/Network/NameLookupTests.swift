import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Names that are hard to look up", .needsNamespaces, InNamespace(), .measured)
struct NameLookupTests {
  @Test func `fails when there is no such name, and when the server fails`() async throws {
    try await withNames { names, wire in
      names.set("nobody.test", .notFound)
      names.set("broken.test", .serverFailure)
      for host in ["nobody.test", "broken.test"] {
        let error = try await wire.failure(wire.operation(at: host))
        #expect(error.code == .resolveFailed && error.isRetrySafe, "\(host): \(error)")
        #expect(host == "broken.test" || error.reason == "notFound", "\(error)")
      }
    }
  }

  @Test func `gives up on a silent server at the connect limit`() async throws {
    try await withNames { names, wire in
      names.set("silent.test", .silence)
      let operation = wire.operation(at: "silent.test")
      operation.timeouts = .init(connect: .seconds(0.3))
      let ending = await wire.engine.end(of: operation, within: .milliseconds(400))
      #expect(ending.code == .timedOut && ending.reason == "connect", "\(ending)")
    }
  }

  @Test func `finds the one of two hundred addresses that answers`() async throws {
    try await withNames { (names, wire) async throws in
      names.set("many.test", .addresses((1...200).map { NameServer.loopback & 0xFFFF_FF00 + $0 }))
      wire.origin.on("/", .text("hello"))
      #expect(try await wire.answer(wire.operation(at: "many.test")).text == "hello")
    }
  }

  @Test func `loses little time to an IPv6 address that does not answer`() async throws {
    try await withNames { names, wire in
      names.set("half.test", .withBrokenIPv6(NameServer.loopback))
      wire.origin.on("/", .text("hello"))
      let answer = await wire.engine.end(of: wire.operation(at: "half.test"), within: .seconds(30))
      #expect(answer.text == "hello")
    }
  }

  @Test func `cancels at once while the server is silent`() async throws {
    try await withNames { names, wire in
      names.setFallback(.silence)
      wire.origin.on("/", .text("hello"))
      _ = try await wire.answer(wire.operation("/"))
      for number in 0..<3 { try await Self.cancelsLookups(number, names, wire) }
    }
  }

  /// Five hundred lookups without an answer: all are cancelled, and the loop has others wait little.
  private static func cancelsLookups(_ round: Int, _ names: NameServer, _ wire: Wire) async throws {
    // Given as many lookups as there may be, and more that wait
    let tally = Tally()
    for number in 0..<500 {
      let operation = wire.operation(at: "host\(number).round\(round).test")
      operation.tag = "lookup"
      tally.start(operation)
    }
    #expect(await names.waitForNames(4 * (round + 1)))
    // When all are cancelled while others use the loop
    let clock = await LoopClock(wire.queue)
    let lag = await clock.longestWait {
      wire.engine.cancel(tag: "lookup")
      await tally.wait(for: 500)
    }
    expect(lag, within: .milliseconds(20))
    // Then each ends, and no other name is asked for
    #expect(tally.count("cancelled") == 500 && tally.isOneEach)
    _ = try await wire.answer(wire.operation("/"))
    let asked = names.namesAsked.count
    for _ in 0..<50 { _ = try await wire.answer(wire.operation("/")) }
    #expect(names.namesAsked.count == asked)
  }

  @Test(.notSanitized(.timeIsNoMeasure))
  func `costs a cancelled one the same however many wait for its name`() async throws {
    try await withNames(loops: .fixed(1)) { names, wire in
      names.setFallback(.silence)
      let few = await Self.cancelsWaiting(1_000, for: "few.test", wire)
      let many = await Self.cancelsWaiting(16_000, for: "many.test", wire)
      expect(many, within: few * 16 * 3)
    }
  }

  /// What the loop works to cancel so many.
  private static func cancelsWaiting(_ count: Int, for host: String, _ wire: Wire) async -> Duration {
    let tally = Tally()
    let operations = (0..<count).map { _ in wire.operation(at: host) }
    for operation in operations {
      // Equal ones would share one exchange.
      operation.configure { $0.coalesces = false }
      tally.watch(operation)
    }
    wire.engine.enqueue(operations)
    let clock = await LoopClock(wire.queue)
    let start = clock.now
    for operation in operations { operation.cancel() }
    await tally.wait(for: count)
    #expect(tally.count("cancelled") == count && tally.isOneEach)
    return clock.now - start
  }

  @Test func `looks four names of an engine up at once, and slow ones beside them`() async throws {
    try await withNames { names, wire in
      names.setFallback(.silence)
      wire.origin.on("/", .text("hello"))
      let tally = Tally()
      let operations = (0..<60).map { wire.operation(at: "host\($0).test") }
      for operation in operations { tally.watch(operation) }
      let start = ContinuousClock.now
      wire.engine.enqueue(operations)
      #expect(await names.waitForNames(4))
      // The loop has gone round many times since: nothing more has started, before these are slow ones
      for _ in 0..<50 { _ = try await wire.answer(wire.operation("/")) }
      #expect(names.namesAsked.count == 4 || ContinuousClock.now - start > .seconds(2))
      // Another engine's names are found meanwhile
      let other = try NetworkEngine(configuration: wire.engine.configuration)
      for number in 0..<3 {
        names.set("found\(number).test", .addresses([NameServer.loopback]))
        let found = await other.end(
          of: other.operation(url: wire.origin.url("/", host: "found\(number).test")))
        #expect(found.text == "hello")
      }
      // Those that take long make room for others of the same engine.
      #expect(await names.waitForNames(11))
      for operation in operations { operation.cancel() }
      await tally.wait(for: operations.count)
      #expect(tally.isOneEach)
    }
  }

  @Test func `has at most 32 threads, whatever is cancelled`() async throws {
    try await withNames { names, wire in
      names.setFallback(.silence)
      let tally = Tally()
      // When a thousand names are asked for and cancelled, by ten engines
      for round in 0..<10 {
        let engine = try NetworkEngine(configuration: wire.engine.configuration)
        let operations = (0..<100).map {
          engine.operation(url: wire.origin.url("/", host: "host\($0).round\(round).test"))
        }
        for operation in operations { tally.watch(operation) }
        engine.enqueue(operations)
        _ = await names.waitForNames(min(16, 4 * (round + 1)))
        for operation in operations { operation.cancel() }
        #expect(Self.lookupThreads <= 32)
      }
      await tally.wait(for: 1_000)
      #expect(Self.lookupThreads <= 32 && tally.count("cancelled") == 1_000)
    }
  }

  /// Threads of this process that look names up.
  private static var lookupThreads: Int {
    SystemText.names(inDirectory: "/proc/self/task").count { id in
      SystemText.read("/proc/self/task/\(id)/comm")?.hasPrefix("netspool-names") ?? false
    }
  }
}

/// A name server, and a wire beside it.
private func withNames(
  loops: NetworkQueue.Loops? = nil, _ body: (NameServer, Wire) async throws -> Void
) async throws {
  let names = try NameServer()
  defer { names.stop() }
  try await withWire({ ($0.retry, $0.delivery) = (.none, .loopThread) }, loops: loops, alone: true) {
    try await body(names, $0)
  }
}

extension Wire {
  /// Asks this origin by a name.
  fileprivate func operation(at host: String) -> NetworkOperation {
    engine.operation(url: origin.url("/", host: host))
  }
}
