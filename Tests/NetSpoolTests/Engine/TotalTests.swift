import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// The total is the whole operation's, and what is told of its time is so too.
@Suite struct TotalTests {
  private static let limit = Duration.milliseconds(600)

  @Test func `redirects do not begin the total anew`() async throws {
    try await withEngine({ ($0.timeouts.total, $0.delivery) = (Self.limit, .loopThread) }) { engine, origin in
      for hop in 0..<5 { origin.on("/\(hop)", .redirect(to: "/\(hop + 1)").delay(.milliseconds(250))) }
      origin.on("/5", .text("late"))
      let ending = await engine.end(of: engine.operation(path: "/0"), within: Self.limit + .milliseconds(100))
      #expect(ending.code == .timedOut && ending.reason == "total")
    }
  }

  @Test
  func `the limit of an attempt begins anew with the next one, and holds for its redirects`() async throws {
    try await withEngine({
      $0.timeouts.attempt = .milliseconds(1_500)
      $0.retry = .attempts(2)
    }) { engine, origin in
      origin.on("/silent", .noAnswer)
      let ending = await engine.end(of: engine.operation(path: "/silent"))
      #expect(ending.code == .timedOut && ending.reason == "total")
      #expect(await origin.waitForHits("/silent", 2))
      // In time for a limit that began with the second hop, which has the rest of the first attempt's. The next has all of its own.
      // A machine under load may be late with the first hop, or see the answer before the limit: not each time.
      for round in 0..<5 {
        let (from, to) = ("/from\(round)", "/to\(round)")
        origin.on(from, .redirect(to: to).delay(.milliseconds(500)))
        origin.enqueue(.text("too late").delay(.milliseconds(1_250)), for: to)
        origin.on(to, .text("late"))
        let ending = await engine.end(of: engine.operation(path: from))
        if ending.text == "late", origin.hits(from) == 1, origin.hits(to) == 2 { return }
      }
      Issue.record("no attempt ended in its second hop")
    }
  }

  @Test func `the wait for authorities that are being read is part of the total`() async throws {
    let (origin, folder) = (try ScriptedOrigin(tls: .selfSigned), try TestFolder())
    origin.on("/a", .noAnswer)
    // Given so many that reading them takes a while
    let bundle = try folder.write(
      "ca.pem", String(repeating: origin.certificateAuthority ?? "", count: 5_000))
    try await withQueue { queue in
      let engine = try NetworkEngine(on: queue) { ($0.tls.caFile, $0.delivery) = (bundle, .loopThread) }
      let operation = engine.operation(url: origin.url("/a"))
      operation.timeouts = .init(total: .seconds(2))
      let ending = await engine.end(of: operation, within: .milliseconds(2_100))
      #expect(ending.code == .timedOut && ending.reason == "total", "\(ending)")
    }
  }

  @Test func `an equal request that comes late has all of its time`() async throws {
    try await withEngine({ $0.timeouts.total = Self.limit }) { engine, origin in
      origin.on("/a", .noAnswer)
      let first = engine.start("/a")
      #expect(await origin.waitForHits("/a", 1))
      _ = await first.onLoop(after: Self.limit / 2) {}
      let start = ContinuousClock.now
      let second = await engine.get("/a").end()
      #expect(second.code == .timedOut && second.reason == "total", "\(second)")
      #expect(ContinuousClock.now - start >= Self.limit - .milliseconds(60))
      #expect(await first.end().code == .timedOut)
    }
  }

  @Test func `an equal request that comes takes no limit of an attempt away`() async throws {
    try await withEngine({ ($0.timeouts.attempt, $0.retry) = (Self.limit, .attempts(2)) }) { engine, origin in
      origin.enqueue(.noAnswer, for: "/a")
      origin.on("/a", .text("ok"))
      let first = engine.start("/a")
      #expect(await origin.waitForHits("/a", 1))
      let second = engine.start("/a")
      for operation in [first, second] {
        let answer = await operation.end().response
        #expect(answer?.text == "ok" && answer?.metrics.attempts == 2)
      }
    }
  }

  @Test func `a repetition that would come after the total is not waited for`() async throws {
    try await withEngine({
      $0.timeouts.total = .seconds(100)
      $0.retry = .standard
    }) { engine, origin in
      // No test waits for so long
      origin.on("/a", .status(503).header("Retry-After", "500"))
      #expect(await engine.end(of: engine.operation(path: "/a")).code == .status)
      #expect(origin.hits("/a") == 1)
    }
  }

  @Test(arguments: [true, false]) func `a name that is looked up counts`(isAnswered: Bool) async throws {
    try await withQueue { queue in
      let origin = try ScriptedOrigin(answering: isAnswered ? .text("ok") : .noAnswer)
      queue.driver.eachLoop {
        $0.names.resolver = NameResolver { _ in
          usleep(400_000)
          return ["127.0.0.1"]
        }
      }
      let engine = try NetworkEngine(on: queue) {
        $0.timeouts.total = isAnswered ? .seconds(60) : Self.limit
        $0.delivery = .loopThread
      }
      let operation = engine.operation(url: origin.url("/", host: "slow.test"))
      if isAnswered {
        let answer = try #require(await engine.end(of: operation).response)
        #expect(answer.metrics.nameLookup >= .milliseconds(400))
      } else {
        let ending = await engine.end(of: operation, within: Self.limit + .milliseconds(100))
        #expect(ending.code == .timedOut && ending.reason == "total")
      }
    }
  }

  /// All of the body is there, but the last of it stays in the stream's buffer, or it is longer than that takes.
  @Test(arguments: [(false, 200_000), (true, 200_000), (false, 3 << 20)])
  func `a total that was set ends an operation whose reader takes nothing`(isCached: Bool, count: Int)
    async throws
  {
    try await withEngine({ $0.delivery = .loopThread }) { engine, origin in
      origin.on("/a", Answer.pattern(count).header("Cache-Control", "max-age=60"))
      let folder = try TestFolder()
      if isCached {
        try engine.useCache(.patient(folder.path))
        #expect(await engine.get("/a").end().response?.status == 200)
      }
      let pipe = try RawPipe()
      let operation = engine.operation(path: "/a").addDownloadStream(DescriptorDownloadStream(pipe.writeEnd))
      operation.timeouts = .total(Self.limit)
      let ending = await engine.end(of: operation)
      #expect(ending.code == .timedOut && ending.reason == "total", "\(ending)")
      withExtendedLifetime(pipe) {}
    }
  }

  /// A stream without a limit has taken longer than who came late may in all.
  @Test func `an operation that came late has the rest of its time for another attempt`() async throws {
    let limit = Duration.seconds(3)
    try await withEngine({ $0.retry = .attempts(2, pause: .zero) }) { engine, origin in
      let broken = Answer.pattern(100_000).fault(.gate("middle"), at: .body(40_000)).closeAfter(50_000)
      // Its limits are looked at meanwhile
      origin.enqueue(broken, .pattern(100_000).delay(.milliseconds(300)), for: "/a")
      let first = engine.operation(path: "/a").addDownloadStream(MemoryDownloadStream())
      first.timeouts.total = nil
      engine.enqueue(first)
      #expect(await origin.waitForWaiting("middle", 1))
      try await Task.sleep(for: limit + .milliseconds(500))
      let begin = ContinuousClock.now
      let second = engine.operation(path: "/a")
      second.timeouts.total = limit
      engine.enqueue(second)
      await engine.settle()
      origin.release("middle")
      #expect(await first.end().code == .bodyTruncated)
      let ending = await second.end()
      let ownTime = ContinuousClock.now - begin
      #expect(ending.response?.body.count == 100_000 || ownTime >= limit, "\(ending)")
    }
  }

  @Test func `a total holds for streams when it was set, and only then`() {
    let standard = NetworkRequest.Timeouts()
    #expect(standard.total == .seconds(60))
    #expect(standard.forStreams(false).total == .seconds(60) && standard.forStreams(true).total == nil)
    var other = standard
    other.connect = .seconds(3)
    #expect(other.forStreams(true).total == nil)
    other.total = .seconds(5)
    #expect(other.forStreams(true).total == .seconds(5))
    other.total = nil
    #expect(other.forStreams(false).total == nil)
  }

  @Test func `a file that takes its time to go up needs no limit of its own`() async throws {
    try await withEngine({ $0.timeouts = NetworkRequest.Timeouts() }) { engine, _ in
      let operation = engine.operation(path: "/a", method: .put)
      #expect(operation.timeLimits(operation.request).total == .seconds(60))
      operation.setUploadStream(ScriptedUpload([]))
      var request = operation.request
      try request.makeReady()
      #expect(operation.timeLimits(request).total == nil)
    }
  }

  @Test func `a form without a file has the limit of a body from memory`() async throws {
    let folder = try TestFolder()
    let path = try folder.write("photo", [1])
    try await withEngine({ $0.timeouts = NetworkRequest.Timeouts() }) { engine, _ in
      var form = Multipart()
      form.addField("1", forKey: "a")
      let operation = engine.operation(path: "/a", method: .post).setBody(.multipart(form))
      var request = operation.request
      try request.makeReady()
      #expect(operation.timeLimits(request).total == .seconds(60))
      form.addFile(path, forKey: "photo")
      request.body = .multipart(form)
      try request.makeReady()
      #expect(operation.timeLimits(request).total == nil)
    }
  }

  @Test func `the wait for a slot and the whole time are told`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(1) }) { engine, origin in
      origin.on("/b", .text("b"))
      let first = await engine.held("/a", .text("a"), at: origin)
      let begin = ContinuousClock.now
      let waiting = engine.start("/b")
      await engine.settle()
      await waiting.onLoop(after: .milliseconds(150)) {}
      origin.release("/a")
      let second = await waiting.end()
      let elapsed = ContinuousClock.now - begin
      let metrics = try #require(second.response?.metrics)
      #expect(metrics.queueWait >= .milliseconds(100))
      #expect(metrics.queueWait <= elapsed && metrics.endToEnd <= elapsed)
      #expect(metrics.endToEnd >= metrics.queueWait + metrics.total - .milliseconds(5))
      #expect(await first.end().text == "a")
    }
  }
}
