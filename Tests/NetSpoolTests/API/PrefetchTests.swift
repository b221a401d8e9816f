import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// URLs that are made where they are pulled.
private struct Numbered: Sequence, IteratorProtocol, Sendable {
  private let count: Int
  private var number = 0
  private let url: @Sendable (Int) -> String

  init(count: Int = .max, url: @escaping @Sendable (Int) -> String) { (self.count, self.url) = (count, url) }

  mutating func next() -> String? {
    guard number < count else { return nil }
    defer { number += 1 }
    return url(number)
  }
}

struct PrefetchTests {
  @Test func `every URL has its outcome, and no more are pulled than fit`() async throws {
    let count = LongRun.isOn ? 100_000 : 2_000
    try await withEngine(queue: { $0.sizing = .fixed(64) }) { engine, origin in
      // Given a sequence that counts how far it was pulled
      origin.on(prefix: "/", .text("1234"))
      let pulled = Counter()
      let done = Counter()
      let most = Counter()
      let base = origin.url("/")
      let urls = Numbered(count: count) { number in
        most.raise(to: pulled.add() - done.value)
        return number % 50 == 0 ? "ftp://nonsense" : base + "\(number)"
      }
      let summary = await summary { engine.prefetch(urls, each: { _ in done.add() }, completion: $0) }
      #expect(summary.succeeded == count - count / 50)
      #expect(summary.failed == count / 50)
      #expect(summary.bytes == Int64(4 * summary.succeeded))
      #expect(!summary.wasCancelled)
      #expect(done.value == count)
      #expect(most.value <= 513)
    }
  }

  @Test(arguments: [1, 100])
  func `a queue that takes few refuses none of its URLs`(_ most: Int) async throws {
    try await withEngine {
      $0.limits.operationsQueuedMax = most
    } _: { engine, origin in
      origin.on(prefix: "/", .text("1234"))
      let base = origin.url("/")
      let summary = await engine.prefetch((0..<1_000).lazy.map { base + "\($0)" })
      #expect(summary.succeeded == 1_000 && summary.failed == 0)
    }
  }

  @Test func `an endless one ends when it is cancelled, even by its own sequence`() async throws {
    try await withEngine { engine, origin in
      origin.on(prefix: "/", .text("1234"))
      let base = origin.url("/")
      let (batch, isThere) = (Journal<NetworkBatch>(), Latch())
      let urls = Numbered { number in
        if number >= 3000 {
          isThere.block()
          batch.entries.first?.cancel()
        }
        return base + "\(number)"
      }
      let summary = await summary {
        batch.add(engine.prefetch(urls, completion: $0))
        isThere.open()
      }
      #expect(summary.wasCancelled)
      #expect(summary.succeeded + summary.failed >= 3000)
      #expect(summary.succeeded + summary.failed <= 3002)
    }
  }

  @Test func `it can be awaited, and a task that is cancelled cancels it`() async throws {
    try await withEngine { engine, origin in
      origin.on(prefix: "/", .text("1234"))
      let base = origin.url("/")
      let summary = await engine.prefetch([base + "1", "ftp://nonsense", base + "2"])
      #expect(summary.succeeded == 2 && summary.failed == 1 && !summary.wasCancelled)
      let task = Task { await engine.prefetch((0...).lazy.map { base + "\($0)" }) }
      #expect(await origin.waitForRequests(100))
      task.cancel()
      #expect(await task.value.wasCancelled)
      let late = Task {
        while !Task.isCancelled { await Task.yield() }
        return await engine.prefetch((0...).lazy.map { base + "late\($0)" })
      }
      late.cancel()
      let none = await late.value
      #expect(none.wasCancelled && none.succeeded + none.failed == 0)
      #expect(!origin.requests.contains { $0.path.hasPrefix("/late") })
    }
  }

  /// A closure of a lazy sequence belongs to the actor that made it, and Swift stops the program when it runs elsewhere.
  @MainActor @Test func `the sequence is pulled on the caller's actor`() async throws {
    let origin = try ScriptedOrigin()
    origin.fallback(.text("x"))
    let engine = try NetworkEngine(url: origin.url(""))
    var pulled = 0
    let urls = (0..<600).lazy.map { number in
      MainActor.assertIsolated()
      pulled += 1
      return "/\(number)"
    }
    #expect(await engine.prefetch(urls).succeeded == 600 && pulled == 600)
  }

  @Test func `its batch ends with it`() async throws {
    try await withEngine { engine, origin in
      let batch = Journal<NetworkBatch>()
      #expect(await summary { batch.add(engine.prefetch([origin.url("/")], completion: $0)) }.failed == 1)
      #expect(await batch.entries[0].results.isEmpty)
    }
  }

  @Test func `an endless one ends with its engine`() async throws {
    try await withEngine { engine, origin in
      origin.fallback(.text("1234"))
      let base = origin.url("/")
      async let end = summary { engine.prefetch(Numbered { base + "\($0)" }, completion: $0) }
      #expect(await origin.waitForRequests(100))
      await engine.shutDown(deadline: .zero)
      #expect(await end.wasCancelled)
    }
  }

  @Test func `nothing to fetch is complete at once`() async throws {
    try await withEngine { engine, _ in
      let summary = await summary { engine.prefetch([String](), completion: $0) }
      #expect(summary.succeeded == 0 && summary.failed == 0 && !summary.wasCancelled)
    }
  }

  @Test func `it goes on without the engine and the batch`() async throws {
    try await withQueue { queue in
      let origin = try ScriptedOrigin()
      origin.on(prefix: "/", .text("1234"))
      let base = origin.url("/")
      let summary = await summary { completion in
        guard let engine = try? NetworkEngine(to: origin, on: queue) else { return }
        engine.prefetch((0..<2000).map { base + "\($0)" }, completion: completion)
      }
      #expect(summary.succeeded == 2000)
    }
  }

  /// The summary of a prefetch that is given a completion.
  private func summary(
    _ start: (@escaping @Sendable (PrefetchSummary) -> Void) -> Void
  ) async -> PrefetchSummary {
    await withCheckedContinuation { continuation in start { continuation.resume(returning: $0) } }
  }
}
