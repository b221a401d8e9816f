import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// How a part of the engine that holds something back asks whether it may go, and is woken.
struct SendingWaitTests {
  private static let refused = NetworkError(.connectFailed, cause: .refused)

  private func wait(
    _ engine: NetworkEngine, for url: String, after failure: NetworkError? = nil, _ latch: Latch
  ) async {
    await engine.homePort.onLoop { core in
      _ = core.connectivity.awaitSending(to: url, for: engine, after: failure) { waiters in
        Wait(.origin, in: waiters) { _ in latch.open() }
      }
    }
  }

  private static func idle(in waiters: WaitList) -> Wait { Wait(.origin, in: waiters) { _ in } }

  private func maySend(_ engine: NetworkEngine, _ url: String) async -> Bool {
    await engine.homePort.onLoop { $0.connectivity.maySend(to: url, for: engine) }
  }

  @Test func `after a failure he is woken when the origin is back`() async throws {
    try await withEngine { engine, origin in
      origin.stop()
      let (first, second) = (Latch(), Latch())
      await wait(engine, for: origin.url("/a"), after: Self.refused, first)
      #expect(await maySend(engine, origin.url("/b")) == false)
      await wait(engine, for: origin.url("/b"), second)
      #expect(!first.isOpen && !second.isOpen)
      try origin.start()
      await first.opened()
      await second.opened()
      #expect(await maySend(engine, origin.url("/a")))
      #expect(origin.requests.isEmpty)
    }
  }

  @Test func `another origin is another matter`() async throws {
    try await withEngine { engine, origin in
      let other = try ScriptedOrigin()
      let (isWoken, never) = (Latch(), Latch())
      origin.stop()
      await wait(engine, for: origin.url("/"), after: Self.refused, never)
      // A request that may be sent is woken at once
      #expect(await maySend(engine, other.url("/")))
      await wait(engine, for: other.url("/"), isWoken)
      await isWoken.opened()
      #expect(!never.isOpen)
    }
  }

  /// A wait knows its watch: neither would ever go.
  @Test func `no call that was called off is kept`() async throws {
    try await withEngine { engine, origin in
      origin.stop()
      let isKept = await engine.homePort.onLoop { core in
        var wait = core.connectivity.awaitSending(
          to: origin.url("/"), for: engine, after: Self.refused, Self.idle)
        weak let left = wait
        wait?.callOff()
        wait = nil
        return left != nil
      }
      #expect(!isKept)
    }
  }

  @Test func `a queue that closes forgets who waits`() async throws {
    try await withEngine { engine, origin in
      origin.stop()
      let never = Latch()
      await wait(engine, for: origin.url("/"), after: Self.refused, never)
      await wait(engine, for: "http://192.0.2.1:9/", after: Self.refused, never)
      #expect(
        await engine.homePort.onLoop { core in
          core.connectivity.awaitSending(to: "no URL", for: engine, Self.idle) == nil
        })
      #expect(!never.isOpen)
    }
  }
}
