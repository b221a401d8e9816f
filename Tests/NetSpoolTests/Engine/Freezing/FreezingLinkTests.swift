import NetSpool
import Testing

@testable import TestSupport

/// Frozen requests and a cable that is pulled, in network namespaces of each test's own.
@Suite(.enabled(if: Namespace.isPossible, "needs unshare(1) with network namespaces, and ip(8)"))
struct FreezingLinkTests {
  /// An engine that freezes, whose paths lead to the neighbour.
  private func withNeighbour(
    name: String = #function, seconds: Int = 600, _ body: (NetworkEngine, Neighbour) async throws -> Void
  ) async throws {
    try await Namespace.run("FreezingLinkTests", name: name, seconds: seconds) {
      let neighbour = try Neighbour()
      let folder = try TestFolder(in: TestFiles.fast)
      try await withQueue { queue in
        let engine = try NetworkEngine(host: Neighbour.address, on: queue) {
          ($0.scheme, $0.port, $0.timeouts) = (.http, Int(Neighbour.port), .init())
          $0.timeouts.connect = .seconds(2)
        }
        try engine.useFreezing(FreezeConfiguration(directory: folder.path + "/frozen"))
        try await body(engine, neighbour)
        await blocking { engine.shutDownAndWait(deadline: .seconds(5)) }
      }
    }
  }

  @Test func `waits for the cable and costs no attempt`() async throws {
    try await withNeighbour { engine, neighbour in
      try Namespace.ip("link set near0 down")
      let operations = (0..<10).map { _ in engine.letter("/", "") }
      for operation in operations { _ = await engine.freeze(operation) }
      await engine.settle()
      #expect(engine.frozenOperations.map(\.attempts) == Array(repeating: 0, count: 10))
      #expect(neighbour.hitCount == 0)
      let start = ContinuousClock.now
      try Namespace.ip("link set near0 up")
      for operation in operations { #expect(await operation.end().text == "ok") }
      #expect(neighbour.hitCount == 10)
      // It has to hold for a second
      #expect(ContinuousClock.now - start >= .seconds(1))
    }
  }

  @Test func `a link that flaps loses nothing`() async throws {
    let flaps = LongRun.isOn ? 600 : 2
    try await withNeighbour(seconds: 600 + flaps * 2) { engine, neighbour in
      let tally = Tally()
      var sent = 0
      for _ in 0..<flaps {
        for words in ["link set near0 down", "link set near0 up"] {
          try Namespace.ip(words)
          let letter = engine.letter("/", "")
          tally.watch(letter)
          _ = await engine.freeze(letter)
          sent += 1
          try await Task.sleep(for: .milliseconds(500))  // a link that flaps once a second
        }
      }
      await tally.wait(for: sent)
      #expect(tally.isOneEach && tally.count("completed") == sent)
      #expect(neighbour.hitCount >= sent)
      #expect(engine.deadLetters.isEmpty && engine.frozenOperations.isEmpty)
    }
  }
}
