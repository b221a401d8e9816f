import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Every limit at its edges: a value is refused by name or it is kept to, and nothing traps.
@Suite struct ExtremeLimitsTests {
  private static let counts = [Int.min, -1, 0, 1, Int(Int32.max), Int.max]
  private static let spans: [Duration] = [
    .seconds(Int64.min), .seconds(-1), .zero, .nanoseconds(1), .milliseconds(1), .seconds(600),
    .seconds(1_000_000_000_000), .seconds(Int64.max),
    Duration(secondsComponent: .max, attosecondsComponent: 0),
  ]

  private static let engineCounts: [(String, @Sendable (inout NetworkEngine.Configuration, Int) -> Void)] = [
    ("stallBytesPerSecond", { $0.timeouts.stallBytesPerSecond = $1 }), ("port", { $0.port = $1 }),
    ("receiveBufferBytes", { $0.receiveBufferBytes = $1 }),
    ("bodyBytesInMemoryMax", { $0.limits.bodyBytesInMemoryMax = $1 }),
    ("bodyBytesStreamedMax", { $0.limits.bodyBytesStreamedMax = Int64($1) }),
    ("decodedBytesMax", { $0.limits.decodedBytesMax = Int64($1) }),
    ("operationsQueuedMax", { $0.limits.operationsQueuedMax = $1 }),
    ("redirects", { $0.redirects = .atMost($1) }), ("retry", { $0.retry = .attempts($1) }),
  ]

  @Test(arguments: engineCounts.map(\.0)) func `counts of an engine`(name: String) async throws {
    let set = try #require(Self.engineCounts.first { $0.0 == name }).1
    for count in Self.counts {
      try await get { configuration in
        let port = configuration.port
        set(&configuration, count)
        if name == "port", (1...65535).contains(count) { configuration.port = port }
      }
    }
  }

  private static let engineSpans: [(String, @Sendable (inout NetworkRequest.Timeouts, Duration) -> Void)] = [
    ("connect", { $0.connect = $1 }), ("headers", { $0.headers = $1 }), ("stall", { $0.stall = $1 }),
    ("total", { $0.total = $1 }), ("queueDeadline", { $0.queueDeadline = $1 }),
    ("reader", { $0.reader = $1 }), ("attempt", { $0.attempt = $1 }),
  ]

  @Test(arguments: engineSpans.map(\.0)) func `time limits of an engine`(name: String) async throws {
    let set = try #require(Self.engineSpans.first { $0.0 == name }).1
    for span in Self.spans { try await get { set(&$0.timeouts, span) } }
  }

  @Test func `a limit of nothing is refused by its name, and the least of each is taken`() {
    for (name, set) in Self.engineSpans {
      var timeouts = NetworkRequest.Timeouts()
      set(&timeouts, .nanoseconds(1))
      #expect(timeouts.firstInvalid == nil)
      set(&timeouts, .zero)
      #expect(timeouts.firstInvalid == name)
    }
    var timeouts = NetworkRequest.Timeouts()
    timeouts.stallBytesPerSecond = 1
    #expect(timeouts.firstInvalid == nil)
    timeouts.stallBytesPerSecond = 0
    #expect(timeouts.firstInvalid == "stall")
  }

  /// What is set together is refused together or kept to together. A failure names its seed.
  @Test func `any limits of an engine and a request at once`() async throws {
    try await withQueue { queue in
      let origin = try ScriptedOrigin()
      for seed in 1...(LongRun.isOn ? 10_000 : 300) as ClosedRange<UInt64> {
        var random = SplitMix64(seed: seed)
        let own = Self.anySpans(&random)
        try await get(from: origin, on: queue, own: random.chance(50) ? own : nil, "seed \(seed)") {
          for (name, set) in Self.engineCounts where name != "port" && random.chance(20) {
            set(&$0, Self.anyNumber(&random))
          }
          if random.chance(70) { $0.timeouts = Self.anySpans(&random) }
        }
      }
    }
  }

  /// Small ones as often as large ones, of either sign.
  private static func anyNumber(_ random: inout SplitMix64) -> Int {
    Int(truncatingIfNeeded: random.next()) >> random.below(64)
  }

  private static func anySpans(_ random: inout SplitMix64) -> NetworkRequest.Timeouts {
    var timeouts = NetworkRequest.Timeouts()
    for (_, set) in engineSpans where random.chance(30) {
      // Mostly long enough for an answer, so that others than the shortest count as well.
      let isLong = random.chance(80)
      let seconds = Int64(anyNumber(&random))
      set(&timeouts, isLong ? .seconds(seconds.magnitude >> 1) + .seconds(60) : .nanoseconds(seconds))
    }
    return timeouts
  }

  @Test func `widths of a queue`() async throws {
    for count in Self.counts {
      for sizing in [NetworkQueue.Sizing.fixed(count), .byLink(local: count, cellular: count), .adaptive] {
        var settings = NetworkQueue.Configuration()
        (settings.sizing, settings.maximumConcurrent, settings.maximumPerOrigin) = (sizing, count, count)
        do throws(NetworkError) {
          let queue = try NetworkQueue(configuration: settings)
          try? await get(on: queue)
        } catch { #expect(error.code == .invalidConfiguration && count < 1, "\(count): \(error)") }
      }
    }
  }

  @Test func `a length that is only announced takes no memory`() async {
    await #expect(processExitsWith: .success) {
      let origin = try ScriptedOrigin()
      origin.fallback(.raw("HTTP/1.1 200 OK\r\nContent-Length: 999999999999999999\r\n\r\nok"))
      let engine = try NetworkEngine(to: origin, on: NetworkQueue()) { $0.limits.bodyBytesInMemoryMax = .max }
      let streamed = engine.operation(path: "/").addDownloadStream(MemoryDownloadStream(bytesMax: .max))
      for operation in [engine.operation(path: "/"), streamed] {
        let end = await engine.end(of: operation)
        precondition(end.code == .bodyTruncated, "\(end)")
      }
    }
  }

  @Test func `the cache`() async throws {
    let changes: [@Sendable (inout CacheConfiguration, Int) -> Void] = [
      { $0.bytesMax = $1 }, { $0.bodyBytesMax = $1 }, { $0.namespaceBytesMax = $1 },
      { $0.residentBytesMax = $1 },
    ]
    for change in changes {
      for count in Self.counts {
        let folder = try TestFolder()
        var cache = CacheConfiguration(directory: folder.path)
        change(&cache, count)
        try await withEngine { engine, origin in
          origin.fallback(.text("ok").header("Cache-Control", "max-age=60"))
          do throws(NetworkError) { try engine.useCache(cache) } catch {
            #expect([.invalidConfiguration, .storeOpenFailed].contains(error.code), "\(count): \(error)")
          }
          for _ in 0..<2 { #expect(await engine.get("/").end().text == "ok") }
        }
      }
    }
  }

  @Test func `frozen requests`() async throws {
    let changes: [@Sendable (inout FreezeConfiguration, Int) -> Void] = [
      { $0.bytesMax = $1 }, { $0.requestsMax = $1 }, { $0.bodyBytesMax = $1 }, { $0.attemptsMax = $1 },
      { $0.crashesMax = $1 }, { $0.lifetime = .seconds($1) }, { $0.backoffBase = .seconds($1) },
      { $0.backoffMax = .seconds($1) }, { $0.idempotencyWindow = .seconds($1) },
    ]
    for change in changes {
      for count in Self.counts {
        let folder = try TestFolder()
        var freezing = FreezeConfiguration()
        freezing.directory = folder.path
        change(&freezing, count)
        try await withEngine { engine, origin in
          origin.fallback(.text("ok"))
          do throws(NetworkError) { try engine.useFreezing(freezing) } catch {
            #expect([.invalidConfiguration, .storeOpenFailed].contains(error.code), "\(count): \(error)")
            return
          }
          let operation = engine.operation(path: "/", method: .post)
          operation.isFreezable = true
          engine.enqueue(operation)
          _ = await operation.end()
        }
      }
    }
  }

  /// A GET under these settings ends, well or with a word for why not.
  private func get(
    from origin: ScriptedOrigin? = nil, on queue: NetworkQueue? = nil, own: NetworkRequest.Timeouts? = nil,
    _ comment: Comment = "", change: (inout NetworkEngine.Configuration) -> Void = { _ in }
  ) async throws {
    let (origin, queue) = (try origin ?? ScriptedOrigin(), try queue ?? NetworkQueue())
    origin.fallback(.text("ok"))
    let engine: NetworkEngine
    do { engine = try NetworkEngine(to: origin, on: queue, change) } catch let error as NetworkError {
      #expect(error.code == .invalidConfiguration && error.reason != nil, comment)
      return
    }
    let operation = engine.operation(path: "/").configure { $0.timeouts = own ?? .init() }
    switch await engine.end(of: operation) {
    case .success(let response): #expect(response.text == "ok", comment)
    case .failure(let error):
      let isOwn = own != nil && error.code == .invalidConfiguration
      let isLimit = [.timedOut, .bodyTooLarge, .queueFull, .decompressionLimit].contains(error.code)
      #expect(isOwn || isLimit, "\(comment) \(error)")
    }
  }
}
