import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// Equal requests that are under way share one exchange, and nothing else.
struct CoalescingTests {
  @Test(arguments: [true, false])
  func `the exchange ends with the last who wants it`(isQueued: Bool) async throws {
    try await withEngine(queue: { $0.isSuspended = isQueued }) { engine, origin in
      origin.hold("/a", .text("shared"))
      let tally = Tally()
      let operations = (0..<1000).map { _ in engine.operation(path: "/a") }
      for operation in operations { tally.start(operation) }
      await engine.settle()
      if !isQueued { #expect(await origin.waitForWaiting("/a", 1)) }
      for operation in operations[..<999] { operation.cancel() }
      await tally.wait(for: 999)
      engine.configuration.queue.isSuspended = false
      origin.release("/a")
      #expect(await operations[999].end().text == "shared")
      #expect(tally.count("cancelled") == 999 && tally.isOneEach)
      #expect(origin.hits("/a") == 1)
      #expect(operations[..<999].allSatisfy { $0.state == .cancelled })
    }
  }

  @Test func `when all have left, the slot is free`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(1) }) { engine, origin in
      origin.hold("/a")
      origin.on("/next", .text("next"))
      let operations = (0..<3).map { _ in engine.start("/a") }
      await engine.settle()
      #expect(await origin.waitForWaiting("/a", 1))
      for operation in operations { operation.cancel() }
      #expect(await engine.end(of: engine.operation(path: "/next")).text == "next")
    }
  }

  enum Phase: String, CaseIterable, Sendable { case headers, stall }

  @Test(arguments: Phase.allCases, [true, false]) func `the exchange has the longest limits that are wanted`(
    _ phase: Phase, _ isFirstHasty: Bool
  ) async throws {
    try await withEngine({ $0.delivery = .loopThread }) { engine, origin in
      // Given an origin that is silent for longer than one of two would wait
      let place = phase == .headers ? FaultPoint.requestRead : .body(2)
      origin.on("/a", Answer.text("both").fault(.pause(.milliseconds(800)), at: place))
      let operations = [engine.operation(path: "/a"), engine.operation(path: "/a")]
      operations[isFirstHasty ? 0 : 1].configure {
        $0.timeouts = engine.configuration.timeouts
        if phase == .headers { $0.timeouts.headers = .milliseconds(300) }
        if phase == .stall { $0.timeouts.stall = .milliseconds(300) }
      }
      // When both share an exchange, the second before the first one's limit can be over
      operations[0].onStateChange { if $0 == .executing { engine.enqueue(operations[1]) } }
      origin.hold("/a")
      engine.enqueue(operations[0])
      #expect(await origin.waitForWaiting("/a", 1))
      await engine.settle()
      origin.release("/a")
      // Then both have its answer
      for operation in operations { #expect(await operation.end().text == "both") }
      #expect(origin.hits("/a") == 1)
    }
  }

  @Test(arguments: [true, false])
  func `and connects for as long as the most patient waits`(_ isFirstHasty: Bool) async throws {
    let hole = try BlackHole()
    try await withEngine { engine, _ in
      let operations = [300, 900].map { limit in
        engine.operation(url: "http://127.0.0.1:\(hole.port)/").configure {
          $0.timeouts = .init()
          $0.timeouts.connect = .milliseconds(limit)
        }
      }
      let start = ContinuousClock.now
      engine.enqueue(isFirstHasty ? operations : operations.reversed())
      for operation in operations { #expect(await operation.end().reason == "connect") }
      #expect(ContinuousClock.now - start >= .milliseconds(880))
    }
  }

  @Test(arguments: [true, false])
  func `each has the attempts that its own policy wants`(_ isFirstPatient: Bool) async throws {
    try await withEngine { engine, origin in
      let asked = Counter()
      origin.on("/a") { _ in asked.add() == 1 ? .status(503) : .text("late") }
      origin.hold("/a")
      let statuses: [Set<Int>] = [[404], [503]]
      let operations = statuses.map { statuses in
        engine.operation(path: "/a").configure {
          $0.retry = .attempts(3, pause: .milliseconds(1), statuses: statuses)
        }
      }
      engine.enqueue(isFirstPatient ? operations.reversed() : operations)
      #expect(await origin.waitForRequests(1))
      origin.release("/a")
      #expect(await operations[0].end().code == .status)
      #expect(await operations[1].end().text == "late")
    }
  }

  @Test(arguments: [true, false])
  func `a repetition without a pause is for no other that wants none`(_ isFirstPatient: Bool) async throws {
    try await withEngine { engine, origin in
      origin.enqueue(.hangUp, .text("late"), for: "/a")
      let operations = [NetworkRequest.Retry.none, .attempts(2, pause: .zero)].map { retry in
        engine.operation(path: "/a").configure { $0.retry = retry }
      }
      await engine.share("/a", at: origin, isFirstPatient ? operations.reversed() : operations)
      #expect(await operations[0].end().code == .connectionLost)
      #expect(await operations[1].end().text == "late")
      #expect(origin.hits("/a") == 2)
    }
  }

  @Test func `requests that differ in what the origin may see are never shared`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a") { request in
        .text(["Authorization", "Cookie", "Range"].map { request.header($0) ?? "-" }.joined(separator: " "))
      }
      origin.hold("/a")
      let operations = engine.start([
        engine.operation(path: "/a").setAuthorization("one"),
        engine.operation(path: "/a").setAuthorization("two"),
        engine.operation(path: "/a").setHeader("Cookie", "a=1"), engine.operation(path: "/a"),
        engine.operation(path: "/a").setHeader("Range", "bytes=0-"),
      ])
      await engine.settle()
      #expect(await origin.waitForWaiting("/a", 5))
      origin.release("/a")
      var answers: [String?] = []
      for operation in operations { answers.append(await operation.end().text) }
      #expect(answers == ["Bearer one - -", "Bearer two - -", "- a=1 -", "- - -", "- - bytes=0-"])
    }
  }

  @Test
  func `two engines, HEAD and GET, redirects followed and not, and operations that object`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .redirect(to: "/b"))
      origin.on("/b", .text("ok"))
      origin.hold("/a")
      let other = try NetworkEngine(to: origin, on: engine.configuration.queue)
      let head = engine.operation(path: "/a", method: .head)
      let plain = engine.operation(path: "/a").configure { $0.redirects = .none }
      let alone = engine.apart(2, "/a")
      let operations = [engine.start("/a"), other.start("/a")] + engine.start([head] + alone + [plain])
      await engine.settle()
      #expect(await origin.waitForWaiting("/a", 6))
      origin.releaseAll()
      for operation in operations.dropLast() { #expect(await operation.end().response?.status == 200) }
      #expect(await plain.end().response?.status == 302)
    }
  }

  @Test(arguments: [(.head, 1, nil), (.post, 5, "ok")] as [(NetworkRequest.Method, Int, String?)])
  func `equal HEAD requests share one exchange, and POST is never shared`(
    method: NetworkRequest.Method, exchanges: Int, text: String?
  ) async throws {
    try await withEngine { engine, origin in
      origin.hold("/a", .text("ok"))
      let operations = (0..<5).map { _ in engine.start(engine.operation(path: "/a", method: method)) }
      await engine.settle()
      #expect(await origin.waitForWaiting("/a", exchanges))
      origin.releaseAll()
      for operation in operations {
        let response = await operation.end().response
        #expect(response?.status == 200 && response?.text == text)
      }
      #expect(origin.hits("/a") == exchanges)
    }
  }

  @Test func `an operation that comes during the body gets all of it, in memory and in streams`() async throws
  {
    try await withEngine { engine, origin in
      origin.on("/a", .pattern(200_000).fault(.gate("middle"), at: .body(100_000)))
      let first = await engine.underWay("/a")
      // When
      let late = engine.start("/a")
      let stream = MemoryDownloadStream()
      let lateWithStream = engine.start(engine.operation(path: "/a").addDownloadStream(stream))
      await engine.settle()
      // Then they share it: each of them is executing without another request
      origin.release("middle")
      for operation in [first, late] {
        let body = try #require(await operation.end().response?.body)
        #expect(body.count == 200_000)
        #expect(BodyPattern.matches([UInt8](body)))
      }
      #expect(await lateWithStream.end().response?.streams.first?.bytes == 200_000)
      #expect(BodyPattern.matches(stream.bytes) && stream.isWhole)
      #expect(origin.hits("/a") == 1)
    }
  }

  @Test func `a stream that comes late is not given more at once than it may be behind`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .pattern(1_500_000).fault(.gate("middle"), at: .body(1_000_000)))
      let arrived = Latch()
      let first = engine.operation(path: "/a").onDownloadProgress { if $0.done >= 600_000 { arrived.open() } }
      engine.enqueue(first)
      await arrived.opened()
      // Given one that wants it in memory, too, and one that takes nothing
      let late = engine.start("/a")
      let stuck = engine.operation(path: "/a").addDownloadStream(ClosureDownloadStream { _ in .pause })
      engine.enqueue(stuck)
      // Then that asks for itself
      #expect(await origin.waitForHits("/a", 2))
      // And not those that come behind it and want it in memory
      let later = engine.start("/a")
      await engine.settle()
      #expect(origin.hits("/a") == 2)
      origin.releaseAll()
      for operation in [first, late, later] {
        #expect(await operation.end().response?.body.count == 1_500_000)
      }
      stuck.cancel()
    }
  }

  @Test func `an operation that comes when the body is no longer held asks for itself`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .pattern(200_000).fault(.gate("middle"), at: .body(100_000)))
      let arrived = Latch()
      let first = engine.operation(path: "/a").addDownloadStream(MemoryDownloadStream())
        .onDownloadProgress { _ in arrived.open() }
      engine.enqueue(first)
      await arrived.opened()
      let late = engine.start("/a")
      #expect(await origin.waitForHits("/a", 2))
      origin.release("middle")
      #expect(await late.end().response?.body.count == 200_000)
      #expect(await first.end().response?.body.count == 0)
    }
  }

  @Test func `no request waits for a stream of another that takes nothing`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .pattern(3 << 20).fault(.gate("head"), at: .head(0)))
      let stuck = engine.operation(path: "/a").addDownloadStream(ClosureDownloadStream { _ in .pause })
      engine.enqueue(stuck)
      let early = [engine.start("/a"), engine.start("/a")]
      await engine.settle()
      #expect(await origin.waitForHits("/a", 1))
      origin.release("head")
      for operation in early { #expect(await operation.end().response?.body.count == 3 << 20) }
      #expect(await engine.start("/a").end().response?.body.count == 3 << 20)
      // The two have shared one of their own
      #expect(origin.hits("/a") == 3)
      stuck.cancel()
      #expect(await stuck.end().error?.code == .cancelled)
    }
  }

  @Test func `an operation that left before the start opens no stream`() async throws {
    try await withEngine(queue: { $0.isSuspended = true }) { engine, origin in
      origin.on("/a", .text("ok"))
      let calls = Journal<String>()
      let first = engine.start("/a")
      let second = engine.start(engine.operation(path: "/a").addDownloadStream(NotingStream(calls)))
      second.cancel()
      #expect(await second.end().code == .cancelled)
      engine.configuration.queue.isSuspended = false
      #expect(await first.end().text == "ok")
      #expect(calls.entries == ["close cancelled"])
    }
  }

  @Test func `what is shared is as urgent as the most urgent who waits for it`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(1) }) { engine, origin in
      origin.on(prefix: "/", .text("ok"))
      let blocker = await engine.held("/held", at: origin)
      let low = engine.operation(path: "/shared")
      low.priority = .low
      engine.enqueue(low)
      for number in 0..<4 { engine.start("/normal\(number)") }
      let urgent = engine.operation(path: "/shared")
      urgent.priority = .urgent
      engine.enqueue(urgent)
      blocker.cancel()
      #expect(await urgent.end().text == "ok")
      #expect(await low.end().text == "ok")
      #expect(origin.requests.map(\.path).dropFirst().first == "/shared")
      #expect(origin.hits("/shared") == 1)
    }
  }

  /// Each kind but the first differs from it in one of its settings.
  private static let kinds: [@Sendable (inout NetworkRequest) -> Void] = [
    { _ in }, { $0.redirects = .none }, { $0.redirects = .atMost(3) },
    { $0.cacheLifetime = .seconds(9) }, { $0.cacheKey = "key" }, { $0.credentialScope = "ann" },
    { $0.credentials = .bearer("1") }, { $0.notifiesOnlyChanges = true }, { $0.cachePolicy = .reload },
  ]

  @Test func `requests that differ from the one under way share among themselves`() async throws {
    try await withEngine { engine, origin in
      origin.hold("/a", .text("shared"))
      let tally = Tally()
      for kind in Self.kinds {
        for _ in 0..<50 { tally.start(engine.operation(path: "/a").configure(kind)) }
      }
      await engine.settle()
      let count = Self.kinds.count
      #expect(await origin.waitForWaiting("/a", count))
      origin.release("/a")
      await tally.wait(for: 50 * count)
      #expect(tally.count("completed") == 50 * count && origin.hits("/a") == count)
    }
  }
}
