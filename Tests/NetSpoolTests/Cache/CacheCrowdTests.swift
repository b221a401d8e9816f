import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// Two processes with two engines each, one of them with a cookie jar, and many users at once: whatever they do to one
/// store, nobody is given what is another's, and nobody what was there before a change of their own.
///
/// `NETSPOOL_LONG=1`: 100,000 operations.
@Suite(.threadForEach) struct CacheCrowdTests {
  private static var operations: Int { LongRun.isOn ? 50_000 : 1_500 }

  @Test func `no request is given what is another's, or what was changed before`() async throws {
    let folder = try TestFolder()
    let (path, origin, world) = (folder.path, try ScriptedOrigin(), World())
    origin.fallback { world.answer($0) }
    async let child = #expect(processExitsWith: .success) {
      [path = path as String, port = origin.port as Int] in
      let wrong = try await CacheCrowdTests.crowd(path, port, seed: 2)
      precondition(wrong.isEmpty, "\(wrong.prefix(5))")
    }
    let wrong = try await Self.crowd(path, origin.port, seed: 1)
    #expect(wrong.isEmpty, "\(wrong.prefix(5))")
    _ = await child
    _ = folder
  }

  /// Every answer says whose it is, for which field, and after how many changes.
  private final class World: Sendable {
    private let versions = Mutex<[String: Int]>([:])
    private let serial = Atomic(0)
    private static let controls = [
      "max-age=100", "max-age=100", "max-age=1", "max-age=0", "no-cache", "no-store",
      "max-age=0, stale-while-revalidate=9", "",
    ]

    func answer(_ request: RecordedRequest) -> Answer {
      let path = request.target
      if path.hasPrefix("/login") {
        return .text("in").header("Set-Cookie", "id=\(path.dropFirst("/login?".count))")
      }
      let version = versions.withLock { versions in
        if request.method != "GET" { versions[path, default: 0] += 1 }
        return versions[path, default: 0]
      }
      if request.method != "GET" { return .text("\(version)") }
      let number = serial.add(1, ordering: .relaxed).newValue
      let user = request.header("Authorization") ?? request.header("Cookie") ?? "nobody"
      let foo = path.hasSuffix("v") ? request.header("Foo") ?? "-" : "*"
      let text = "\(path)|\(user)|\(foo)|\(version)"
      var answer = request.header("If-None-Match") == "\"\(text)\"" ? Answer.status(304) : .text(text)
      if number % 4 == 0 { answer = .chunks([Array(text.utf8)]) }
      if number % 5 > 0 { answer = answer.header("ETag", "\"\(text)\"") }
      answer = answer.header("Cache-Control", Self.controls[number * 7 % Self.controls.count])
      return path.hasSuffix("v") ? answer.header("Vary", "Foo") : answer
    }
  }

  /// What one process does, 32 things at a time. Answers what was wrong.
  private static func crowd(_ path: String, _ port: Int, seed: Int) async throws -> [String] {
    var configuration = NetworkEngine.Configuration()
    (configuration.scheme, configuration.port, configuration.queue) = (.http, port, try NetworkQueue())
    let plain = try NetworkEngine(host: "127.0.0.1", configuration: configuration)
    configuration.cookies = .inMemory
    let keeping = try NetworkEngine(host: "127.0.0.1", configuration: configuration)
    var cache = CacheConfiguration.patient(path)
    cache.bytesMax = 4 << 20
    for engine in [plain, keeping] { try engine.useCache(cache) }
    _ = await keeping.fetch("/login?\(seed)")
    let crowd = Crowd(plain: plain, keeping: keeping, cookie: "id=\(seed)")
    await withDiscardingTaskGroup { group in
      for member in 0..<32 {
        group.addTask {
          var random = SplitMix64(seed: UInt64(seed * 1_000 + member))
          for _ in 0..<Self.operations / 32 { await crowd.act(&random) }
        }
      }
    }
    await blocking { plain.flushCache() }
    return crowd.wrong.entries
  }

  private final class Crowd: Sendable {
    let plain: NetworkEngine
    let keeping: NetworkEngine
    let cookie: String
    let wrong = Journal<String>()
    /// The newest versions whose changes have been answered here.
    private let floors = Mutex<[String: Int]>([:])

    init(plain: NetworkEngine, keeping: NetworkEngine, cookie: String) {
      (self.plain, self.keeping, self.cookie) = (plain, keeping, cookie)
    }

    func act(_ random: inout SplitMix64) async {
      let keeps = random.chance(30)
      let engine = keeps ? keeping : plain
      let path = ["/a", "/b", "/c", "/v", "/wv"][random.below(5)]
      switch random.below(100) {
      case 0..<6:
        let ending = await engine.end(of: engine.operation(path: path, method: .post))
        guard let version = ending.text.flatMap({ Int($0) }) else { return wrong.add("POST \(ending)") }
        floors.withLock { $0[path] = max($0[path] ?? 0, version) }
      case 6..<8: await blocking { engine.removeCached(url: engine.operation(path: path).request.url) }
      default: await get(path, engine, keeps: keeps, &random)
      }
    }

    private func get(_ path: String, _ engine: NetworkEngine, keeps: Bool, _ random: inout SplitMix64) async {
      let user = ["nobody", "Bearer A", "Bearer B", "Bearer C"][random.below(4)]
      let foo = ["-", "1", "2"][random.below(3)]
      let policies: [NetSpool.CachePolicy] = [
        .automatic, .automatic, .preferCached, .staleWhileRevalidate, .onlyIfCached, .alwaysValidate, .reload,
      ]
      let policy = policies[random.below(policies.count)]
      let operation = engine.operation(path: path)
      if user != "nobody" { operation.setHeader("Authorization", user) }
      if foo != "-" { operation.setHeader("Foo", foo) }
      // Names are the same in both processes.
      let isNamed = user == "Bearer B"
      operation.configure {
        $0.cachePolicy = policy
        if isNamed { $0.credentialScope = "B" }
      }
      let stream = random.chance(20) ? MemoryDownloadStream() : nil
      if let stream { operation.addDownloadStream(stream) }
      let floor = floors.withLock { $0[path] ?? 0 }
      let ending = await engine.end(of: operation)
      if policy == .onlyIfCached, ending.code == .notCached { return }
      let text = stream.map { String(decoding: $0.bytes, as: UTF8.self) } ?? ending.text ?? ""
      let words = text.split(separator: "|").map(String.init)
      let expected = [path, user == "nobody" && keeps ? cookie : user, path.hasSuffix("v") ? foo : "*"]
      if ending.response == nil || Array(words.prefix(3)) != expected || Int(words.last ?? "") ?? -1 < floor {
        wrong.add("\(policy) for \(expected), \(floor): \(text) \(ending)")
      }
    }
  }
}
