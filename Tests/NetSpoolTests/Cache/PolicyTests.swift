import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// What each policy makes of what is held, with the origin there and with the origin gone.
struct PolicyTests {
  /// `bound`: stale, and it must be revalidated.
  enum Held: String, Sendable, CaseIterable { case fresh, stale, bound, nothing }

  struct Cell: Sendable, CustomTestStringConvertible {
    let policy: NetSpool.CachePolicy
    let held: Held
    let isUp: Bool
    /// What the handlers hear, in order.
    let hears: [String]
    let asked: Int
    var testDescription: String { "\(policy), \(held) held, origin \(isUp ? "up" : "down")" }
  }

  private static func row(
    _ policy: NetSpool.CachePolicy, _ held: Held, up: [String], _ asked: Int, down: [String]
  ) -> [Cell] {
    [
      Cell(policy: policy, held: held, isUp: true, hears: up, asked: asked),
      Cell(policy: policy, held: held, isUp: false, hears: down, asked: 0),
    ]
  }

  private static let new = ["new network"]
  private static let old = ["old cache"]
  private static let failed = ["connectFailed"]

  static let cells: [Cell] =
    [
      row(.automatic, .fresh, up: old, 0, down: old), row(.automatic, .stale, up: new, 1, down: old),
      row(.automatic, .bound, up: new, 1, down: failed), row(.automatic, .nothing, up: new, 1, down: failed),
      row(.cachedThenFresh, .fresh, up: old, 0, down: old),
      row(.cachedThenFresh, .stale, up: ["early old cache"] + new, 1, down: ["early old cache"] + failed),
      row(.cachedThenFresh, .bound, up: new, 1, down: failed),
      row(.cachedThenFresh, .nothing, up: new, 1, down: failed),
      row(.staleWhileRevalidate, .fresh, up: old, 0, down: old),
      row(.staleWhileRevalidate, .stale, up: old, 1, down: old),
      row(.staleWhileRevalidate, .nothing, up: new, 1, down: failed),
      row(.preferCached, .fresh, up: old, 0, down: old), row(.preferCached, .stale, up: old, 0, down: old),
      row(.preferCached, .nothing, up: new, 1, down: failed),
      row(.onlyIfCached, .fresh, up: old, 0, down: old), row(.onlyIfCached, .stale, up: old, 0, down: old),
      row(.onlyIfCached, .nothing, up: ["notCached"], 0, down: ["notCached"]),
    ].flatMap { $0 }
    + [NetSpool.CachePolicy.alwaysValidate, .reload, .noStore].flatMap { policy in
      Held.allCases.flatMap { row(policy, $0, up: new, 1, down: failed) }
    }

  @Test(arguments: cells) func `keeps to the table`(_ cell: Cell) async throws {
    try await withCache { engine, origin, clock in
      let mustAsk = cell.held == .bound ? ", must-revalidate" : ""
      origin.on("/a", .text("old").header("Cache-Control", "max-age=10\(mustAsk)"))
      if cell.held != .nothing { _ = await engine.fetch("/a") }
      if cell.held == .stale || cell.held == .bound { clock.advance(seconds: 20) }
      origin.on("/a", .text("new").header("Cache-Control", "max-age=10"))
      origin.forgetRequests()
      if !cell.isUp { origin.stop() }
      #expect(await engine.hears("/a", cell.policy) == cell.hears)
      if cell.isUp, cell.asked > 0 { #expect(await origin.waitForRequests(cell.asked)) }
      #expect(origin.requestCount == cell.asked)
    }
  }

  @Test func `a stored error is an error, and no early answer`() async throws {
    try await withCache { engine, origin, clock in
      origin.on("/a", .text("gone", status: 404).header("Cache-Control", "max-age=10"))
      #expect(await engine.fetch("/a").code == .status)
      let held = await engine.fetch("/a")
      #expect(held.error?.response?.source == .cache && held.code == .status)
      clock.advance(seconds: 20)
      origin.on("/a", .text("back"))
      #expect(await engine.hears("/a", .cachedThenFresh) == ["back network"])
    }
  }

  @Test func `a forced reload never brings stored bytes`() async throws {
    try await withCache { engine, origin, clock in
      origin.on("/a", .text("old").header("Cache-Control", "max-age=1000, immutable").header("ETag", "\"a\""))
      _ = await engine.fetch("/a")
      origin.on("/a", .text("new").header("Cache-Control", "max-age=1000"))
      let operation = engine.operation(path: "/a")
      engine.enqueue(operation, forceReload: true)
      #expect(await operation.end().text == "new")
      #expect(origin.requests.last?.header("If-None-Match") == nil)
      #expect(await engine.fetch("/a").text == "new")
    }
  }

  @Test func `nothing is asked offline, whatever the request is`() async throws {
    try await withCache { engine, origin, _ in
      for fields: NetworkRequest.Headers in [
        ["Range": "bytes=0-1"], ["If-None-Match": "\"a\""], ["Cache-Control": "no-store"],
      ] { #expect(await engine.isMissing("/a", fields), "\(fields)") }
      let post = engine.operation(path: "/a", method: .post)
      post.cachePolicy = .onlyIfCached
      #expect(await engine.end(of: post).code == .notCached)
      #expect(origin.requestCount == 0)
    }
  }

  @Test func `a lifetime of the caller's own goes before the origin's`() async throws {
    try await withCache { engine, origin, clock in
      origin.on("/a", .text("a").header("Cache-Control", "max-age=10"))
      _ = await engine.fetch("/a")
      clock.advance(seconds: 50)
      for (seconds, source) in [(60, NetworkResponse.Source.cache), (40, .network), (0, .network)] {
        let operation = engine.operation(path: "/a").configure { $0.cacheLifetime = .seconds(seconds) }
        #expect(await engine.end(of: operation).response?.source == source, "\(seconds)")
      }
      origin.on("/b", .text("b").header("Cache-Control", "no-store"))
      for _ in 1...2 {
        let never = engine.operation(path: "/b").configure { $0.cacheLifetime = .seconds(60) }
        #expect(await engine.end(of: never).response?.source == .network)
      }
    }
  }

  @Test func `without a cache nothing is held`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .text("a").header("Cache-Control", "max-age=100"))
      for _ in 1...2 { #expect(await engine.fetch("/a").response?.source == .network) }
      #expect(await engine.fetch("/a", .onlyIfCached).code == .notCached)
      #expect(await engine.hears("/a", .cachedThenFresh) == ["a network"])
      #expect(engine.cacheStatistics == nil)
      engine.emptyCache()
      engine.removeCached(url: origin.url("/a"))
      engine.removeCached(prefix: origin.url("/"))
      #expect(origin.requestCount == 3)
    }
  }
}

extension NetworkEngine {
  /// What the handlers of a GET hear until its end: body and source of an answer, or the code of an error.
  func hears(_ path: String, _ policy: NetSpool.CachePolicy) async -> [String] {
    let operation = operation(path: path)
    operation.cachePolicy = policy
    return await hears(operation)
  }

  func hears(_ operation: NetworkOperation) async -> [String] {
    let heard = Journal<String>()
    operation.onCompletion { heard.add("\($0.isFinal ? "" : "early ")\($0.text ?? "") \($0.source)") }
    operation.onError { heard.add("\($0.code)") }
    operation.onNotModified { heard.add("not modified") }
    _ = try? await response(for: operation)
    return heard.entries
  }
}
