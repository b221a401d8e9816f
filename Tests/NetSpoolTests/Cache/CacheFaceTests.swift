import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// What the cache tells, and what it is told.
struct CacheFaceTests {
  private static func lasting(_ text: String) -> Answer { .text(text).header("Cache-Control", "max-age=100") }

  @Test func `a response says whether it is stale, and since when it is held`() async throws {
    try await withCache { engine, origin, clock in
      origin.on("/a", Self.lasting("a"))
      let began = clock.now
      let first = try #require(await engine.fetch("/a").response)
      #expect(!first.isStale && first.cachedAt == nil)
      clock.advance(seconds: 10)
      let hit = try #require(await engine.fetch("/a").response)
      #expect(!hit.isStale && hit.cachedAt == .milliseconds(began))
      clock.advance(seconds: 100)
      let stale = try #require(await engine.fetch("/a", .onlyIfCached).response)
      #expect(stale.isStale && stale.cachedAt == .milliseconds(began))
      #expect(stale.source == .cache && stale.isFromCache && stale.isFinal)
      #expect(stale.age == .seconds(110) && stale.headers["Age"] == "110")
    }
  }

  @Test func `a policy always asks`() async throws {
    try await withCache { engine, origin, _ in
      origin.on("/a", Self.lasting("a").header("ETag", "\"a\""))
      _ = await engine.fetch("/a")
      origin.on("/a", .status(304))
      let confirmed = try #require(await engine.fetch("/a", .alwaysValidate).response)
      // The time is that of the exchange, which brought no body.
      #expect(confirmed.source == .revalidated && confirmed.text == "a")
      #expect(confirmed.metrics.total > .zero && confirmed.metrics.bytesReceived == 0)
      #expect(await engine.fetch("/a").response?.source == .cache)
      #expect(origin.requests.last?.header("If-None-Match") == "\"a\"")
      origin.stop()
      #expect(await engine.fetch("/a", .alwaysValidate).code == .connectFailed)
    }
  }

  @Test func `statistics count all who shared a confirmation, and a hit that waited once`() async throws {
    try await withCache { engine, origin, clock in
      origin.on("/a", Self.lasting("12345").header("ETag", "\"a\""))
      _ = await engine.fetch("/a")
      clock.advance(seconds: 200)
      origin.on("/a", .status(304))
      let sharers = (1...3).map { _ in engine.operation(path: "/a") }
      await engine.share("/a", at: origin, sharers)
      for sharer in sharers { #expect(await sharer.end().response?.source == .revalidated) }
      let shared = try #require(engine.cacheStatistics)
      #expect(shared.served == 3 && shared.validations == 1 && shared.bytesSaved == 15, "\(shared)")
      // What waits for others asks the cache before and behind.
      origin.on("/b", Self.lasting("b"))
      _ = await engine.fetch("/b")
      let first = engine.operation(path: "/b")
      let second = engine.start(engine.operation(path: "/b").addDependency(first))
      engine.enqueue(first)
      #expect(await second.end().response?.source == .cache)
      #expect(engine.cacheStatistics?.served == 5)
    }
  }

  @Test func `of a body that was not served nothing was saved`() async throws {
    try await withCache { engine, origin, _ in
      origin.on("/a", Self.lasting("0123456789").header("ETag", "\"a\""))
      _ = await engine.fetch("/a")
      let asked: [(NetworkRequest.Headers, Int)] = [
        (["If-None-Match": "\"a\""], 0), (["Range": "bytes=10-"], 0), (["Range": "bytes=2-4"], 3), ([:], 10),
      ]
      var (served, saved) = (0, 0)
      for (fields, bytes) in asked {
        _ = await engine.fetch("/a", headers: fields)
        (served, saved) = (served + 1, saved + bytes)
        let statistics = try #require(engine.cacheStatistics)
        #expect(statistics.served == served && statistics.bytesSaved == saved, "\(fields)")
      }
      #expect(origin.hits("/a") == 1)
    }
  }

  @Test func `the last process that closes a cache leaves nothing in the machine's memory`() throws {
    let folder = try TestFolder()
    let configuration = CacheConfiguration.patient(folder.path)
    let engines = [try NetworkEngine(), try NetworkEngine()]
    for engine in engines { try engine.useCache(configuration) }
    let inode = Hexadecimal.text(try FileStatus(path: folder.path).identity.inode)
    let names = { SystemText.names(inDirectory: "/dev/shm").filter { $0.hasSuffix("-" + inode) } }
    #expect(names().count == 2)
    engines[0].closeCache()
    #expect(names().count == 2)
    engines[1].closeCache()
    #expect(names().isEmpty)
  }

  @Test func `parts one after the other are stored once each, and are the whole in the end`() async throws {
    try await withCache { engine, origin, _ in
      let (count, size) = (200, 2_000)
      let whole = BodyPattern.bytes(count * size)
      origin.on("/a") { request in
        Answer.resumable(count * size, etag: "\"a\"", for: request).header("Cache-Control", "max-age=1000")
      }
      func part(_ number: Int, _ policy: NetSpool.CachePolicy? = nil) async -> Ending {
        let range = "bytes=\(number * size)-\((number + 1) * size - 1)"
        return await engine.fetch("/a", policy, headers: ["Range": range])
      }
      for number in 0..<count - 1 {
        let answer = await part(number)
        #expect(answer.response.map { [UInt8]($0.body) } == Array(whole[number * size..<(number + 1) * size]))
      }
      engine.flushCache()
      // What lies in the store is what came and little more.
      let bytes = try #require(engine.cacheStatistics).bytes
      #expect(bytes < 3 * count * size, "\(bytes)")
      // A busy machine may take longer to look than a request waits for that: then there is no answer, and it is asked again.
      func held(_ ask: () async -> Ending) async -> Ending {
        let deadline = Deadline.generous
        var answer = await ask()
        while answer.response == nil, deadline.millisecondsLeft > 0 { answer = await ask() }
        return answer
      }
      for number in [0, 63, 64, 65, count - 2] {
        let answer = await held { await part(number, .onlyIfCached) }
        #expect(answer.response.map { [UInt8]($0.body) } == Array(whole[number * size..<(number + 1) * size]))
      }
      _ = await part(count - 1)
      let all = await held { await engine.fetch("/a", .onlyIfCached) }
      #expect(all.response.map { [UInt8]($0.body) } == whole && origin.hits("/a") == count)
    }
  }

  @Test func `a key of the caller's own stands for the URL`() async throws {
    try await withCache { engine, origin, _ in
      origin.fallback(Self.lasting("signed"))
      func get(_ path: String, method: NetworkRequest.Method = .get) async -> Ending {
        let operation = engine.operation(path: path, method: method).configure { $0.cacheKey = "picture 7" }
        return await engine.end(of: operation)
      }
      #expect(await get("/7?signature=1").response?.source == .network)
      #expect(await get("/7?signature=2").response?.source == .cache)
      #expect(await engine.fetch("/7?signature=1").response?.source == .network)
      _ = await get("/7?signature=3", method: .put)
      #expect(await get("/7?signature=4").response?.source == .network)
    }
  }

  @Test(arguments: [("old", "max-age=1000"), ("new", "max-age=1000"), ("new", "no-store")])
  func `a part of a newer body leaves no older one that is still fresh`(_ tag: String, _ control: String)
    async throws
  {
    try await withCache { engine, origin, _ in
      let whole = Answer.text("0123456789").header("Cache-Control", "max-age=1000")
      origin.on("/a", whole.header("ETag", "\"old\""))
      #expect(await engine.fetch("/a").text == "0123456789")
      let part = Answer.text("ab", status: 206).header("Content-Range", "bytes 0-1/10")
      origin.on("/a", part.header("ETag", "\"\(tag)\"").header("Cache-Control", control))
      #expect(await engine.fetch("/a", .reload, headers: ["Range": "bytes=0-1"]).text == "ab")
      origin.on("/a", .text("asked"))
      #expect(await engine.fetch("/a").text == (tag == "old" ? "0123456789" : "asked"))
    }
  }

  @Test func `a part of a body that is longer than any adds up to no trap`() async throws {
    try await withCache { engine, origin, _ in
      let part = Answer.text("x", status: 206).header("ETag", "\"a\"").header("Cache-Control", "max-age=100")
      origin.on("/a", part.header("Content-Range", "bytes 0-0/999999999999999999"))
      #expect(await engine.fetch("/a", headers: ["Range": "bytes=0-0"]).text == "x")
      let ranges = Array(repeating: "0-", count: 10).joined(separator: ",")
      #expect(await engine.fetch("/a", headers: ["Range": "bytes=\(ranges)"]).response?.source == .network)
    }
  }

  enum Remembered: CaseIterable { case password, deadline, redirect }

  /// Whatever an operation has to remember besides.
  @Test(arguments: Remembered.allCases)
  func `a request with a key of the caller's own removes what stands there`(_ what: Remembered) async throws {
    try await withCache(engine: {
      if what == .password { $0.credentials = .basic(user: "a", password: "b", preemptive: true) }
    }) { engine, origin, _ in
      origin.on("/7", Self.lasting("old"))
      origin.on("/done", .text("done"))
      func get(_ method: NetworkRequest.Method = .get) async -> Ending {
        let operation = engine.operation(path: "/7", method: method).configure { $0.cacheKey = "picture 7" }
        if what == .deadline { operation.timeouts.queueDeadline = .seconds(600) }
        return await engine.end(of: operation)
      }
      #expect(await get().response?.source == .network)
      #expect(await get().response?.source == .cache)
      // Asked for at another URL, it is in the way of its own name alone
      origin.on("/7", method: "POST", what == .redirect ? .redirect(to: "/done", status: 303) : .text("new"))
      _ = await get(.post)
      origin.on("/7", Self.lasting("new"))
      #expect(await get().text == "new")
    }
  }

  @Test func `under a key of the caller's own stands where a redirect leads`() async throws {
    try await withCache { engine, origin, _ in
      let moved = Answer.redirect(to: "/signed", status: 302).header("Cache-Control", "max-age=100")
      origin.on("/7", moved)
      origin.on("/signed", Self.lasting("picture"))
      for source in [NetworkResponse.Source.network, .cache] {
        let operation = engine.operation(path: "/7").configure { $0.cacheKey = "picture 7" }
        let ending = await engine.end(of: operation)
        #expect(ending.text == "picture" && ending.response?.source == source, "\(ending)")
      }
      #expect(origin.requestCount == 2)
    }
  }

  /// One that does not follow redirects has stored it there.
  @Test func `a redirect under a key of the caller's own leads to its end`() async throws {
    try await withCache { engine, origin, _ in
      origin.on("/7", Answer.redirect(to: "/signed", status: 302).header("Cache-Control", "max-age=100"))
      origin.on("/signed", Self.lasting("picture"))
      for (follows, status) in [(false, 302), (true, 200)] {
        let operation = engine.operation(path: "/7").configure { $0.cacheKey = "picture 7" }
        if !follows { operation.configure { $0.redirects = .none } }
        let ending = await engine.end(of: operation)
        #expect((ending.response ?? ending.error?.response)?.status == status, "\(ending)")
      }
    }
  }

  @Test func `what has a tag goes with it`() async throws {
    try await withCache { engine, origin, _ in
      origin.fallback(Self.lasting("x"))
      for (path, tag) in [("/a", "one"), ("/b", "one"), ("/c", "two"), ("/d", nil)] {
        _ = await engine.end(of: engine.operation(path: path).configure { $0.tag = tag })
      }
      engine.removeCached(tag: "one")
      for path in ["/a", "/b"] { #expect(await engine.isMissing(path)) }
      for path in ["/c", "/d"] { #expect(!(await engine.isMissing(path))) }
      engine.removeCached(tag: "")
      #expect(!(await engine.isMissing("/d")))
    }
  }

  @Test func `what is older than a time is removed, unless it was confirmed since`() async throws {
    try await withCache { engine, origin, clock in
      for path in ["/old", "/confirmed"] { origin.on(path, Self.lasting("a").header("ETag", "\"a\"")) }
      for path in ["/old", "/confirmed"] { _ = await engine.fetch(path) }
      clock.advance(seconds: 60)
      origin.on("/confirmed", .status(304).header("ETag", "\"a\""))
      #expect(await engine.fetch("/confirmed", .alwaysValidate).response?.source == .revalidated)
      origin.on("/new", Self.lasting("a"))
      _ = await engine.fetch("/new")
      for age in [Duration.milliseconds(60_001), .seconds(Int64.max)] {
        engine.removeCached(olderThan: age)
        #expect(!(await engine.isMissing("/old")))
      }
      engine.removeCached(olderThan: .seconds(60))
      #expect(await engine.isMissing("/old"))
      for path in ["/confirmed", "/new"] { #expect(!(await engine.isMissing(path))) }
      engine.removeCached(olderThan: .zero)
      for path in ["/confirmed", "/new"] { #expect(await engine.isMissing(path)) }
    }
  }

  @Test func `coded bytes stay theirs over restarts and questions whether they hold`() async throws {
    let folder = try TestFolder()
    let clock = WallClockHand()
    let settings = CacheConfiguration.patient(folder.path)
    let coded = Gzip.stored(Array("plain".utf8))
    try await withEngine { [settings] first, origin in
      origin.on("/a") { request in
        let isCoded = request.header("Accept-Encoding")?.contains("gzip") == true
        let answer =
          request.header("If-None-Match") != nil
          ? Answer.status(304) : isCoded ? .gzip(coded) : .text("plain")
        return answer.header("Cache-Control", "max-age=10").header("ETag", isCoded ? "\"z\"" : "\"p\"")
          .header("X-A", "1")
      }
      for source in [NetworkResponse.Source.network, .cache, .revalidated, .cache] {
        // When each time another engine opens the store
        let engine = try NetworkEngine(to: origin, on: first.configuration.queue)
        try engine.useCache(settings, now: { clock.now })
        if source == .revalidated { clock.advance(seconds: 20) }
        // Then each gets what it has asked for
        for fields: NetworkRequest.Headers in [
          [:], ["Accept-Encoding": "gzip"], ["Accept-Encoding": "identity"],
        ] {
          let response = await engine.fetch("/a", headers: fields).response
          let isCoded = fields["Accept-Encoding"] == "gzip"
          #expect(response?.source == source && response?.headers["X-A"] == "1", "\(fields)")
          #expect(response.map { [UInt8]($0.body) } == (isCoded ? coded : Array("plain".utf8)), "\(fields)")
        }
        engine.closeCache()
      }
      #expect(origin.hits("/a") == 6)
      // Positions in what was sent are not those in what it was decoded to.
      let engine = try NetworkEngine(to: origin, on: first.configuration.queue)
      try engine.useCache(settings, now: { clock.now })
      origin.on("/a", Answer(status: 206, headers: ["Content-Range": "bytes 0-1/25"], body: .text("xx")))
      #expect(await engine.fetch("/a", headers: ["Range": "bytes=0-1"]).response?.source == .network)
    }
    _ = folder
  }

  @Test func `a range of a long body is a part of its file, and no copy`() async throws {
    try await withCache { engine, origin, _ in
      let body = BodyPattern.bytes(300_000)
      origin.on("/a", Answer.bytes(body).header("Cache-Control", "max-age=60"))
      #expect(await engine.fetch("/a").error == nil)
      await blocking { engine.flushCache() }
      let end = await engine.fetch("/a", headers: ["Range": "bytes=100000-249999"])
      let part = try #require(end.response?.body)
      #expect(end.response?.status == 206 && end.response?.source == .cache && !part.isInMemory)
      #expect(part.count == 150_000 && part.array == Array(body[100_000..<250_000]))
      #expect(part[149_999] == body[249_999] && part.part(1..<3).array == Array(body[100_001..<100_003]))
      #expect([UInt8](part.dropFirst(149_998)) == Array(body[249_998..<250_000]))
      let read = unsafe part.withUnsafeBytes { bytes in bytes.count }
      #expect(read == 150_000 && part.bytes.byteCount == 150_000)
      let stream = MemoryDownloadStream()
      let streamed = engine.operation(path: "/a").addDownloadStream(stream)
      streamed.headers["Range"] = "bytes=299999-"
      #expect(await engine.end(of: streamed).response?.source == .cache && stream.bytes == [body[299_999]])
      let two = await engine.fetch("/a", headers: ["Range": "bytes=0-9, 200000-200009"])
      #expect(two.response?.status == 206 && two.response?.body.isInMemory == true)
    }
  }

  @Test func `several parts come as one body`() async throws {
    try await withCache { engine, origin, _ in
      origin.on("/a", Self.lasting("0123456789"))
      _ = await engine.fetch("/a")
      let response = try #require(await engine.fetch("/a", headers: ["Range": "bytes=0-1, -2"]).response)
      #expect(response.status == 206 && response.source == .cache)
      let type = try #require(response.headers["Content-Type"])
      let boundary = try #require(type.split(separator: "boundary=").last)
      #expect(type.hasPrefix("multipart/byteranges"))
      let parts = (response.text ?? "").split(separator: "--\(boundary)", omittingEmptySubsequences: false)
      #expect(parts.count == 4 && parts[3] == "--\r\n")
      #expect(parts[1].hasSuffix("Content-Range: bytes 0-1/10\r\n\r\n01\r\n"))
      #expect(parts[2].hasSuffix("Content-Range: bytes 8-9/10\r\n\r\n89\r\n"))
      for long in ["999999999999999999", "99999999999999999999999"] {
        let rest = await engine.fetch("/a", headers: ["Range": "bytes=2-\(long)"])
        #expect(rest.response?.status == 206 && rest.response?.source == .cache)
      }
      let none = await engine.fetch("/a", headers: ["Range": "bytes=10-"])
      #expect(none.error?.response?.status == 416)
      #expect(none.error?.response?.headers["Content-Range"] == "bytes */10")
      #expect(origin.hits("/a") == 1)
    }
  }

  @Test func `what is filed is what is sent`() async throws {
    try await withCache { engine, origin, _ in
      origin.fallback(Self.lasting("x"))
      _ = await engine.end(of: engine.operation(url: origin.url("/a/%2e%2E/b/.%2e/c%2fd?x=%2e%7e")))
      #expect(origin.requests.last?.target == "/c%2fd?x=%2e%7e")
      let again = engine.operation(url: origin.url("/c%2fd?x=%2e%7e"))
      #expect(await engine.end(of: again).response?.source == .cache)
    }
  }

  @Test func `a small store is enough said, and quotas come with the engine that names them`() async throws {
    try await withCache({ $0.bytesMax = 8 << 20 }) { engine, origin, _ in
      origin.fallback(.bytes([UInt8](repeating: 7, count: 50_000)).header("Cache-Control", "max-age=100"))
      let other = try NetworkEngine(to: origin, on: engine.configuration.queue)
      var small = engine.sharedCache
      small.namespace = "small"
      small.namespaceBytesMax = 300_000
      try other.useCache(small)
      for number in 0..<20 {
        for engine in [engine, other] { _ = await engine.fetch("/\(number)") }
      }
      engine.flushCache()
      var held = (0, 0)
      for number in 0..<20 {
        if await !engine.isMissing("/\(number)") { held.0 += 1 }
        if await !other.isMissing("/\(number)") { held.1 += 1 }
      }
      #expect(held.0 == 20 && (3...6).contains(held.1), "\(held)")
    }
  }
}
