import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// Random stories of several users, at two engines of this process, one with a cookie jar and one of another process, all
/// with one store, against a second reading of RFC 9111 that knows nothing of the first: what each response is, where it
/// comes from, and whether the origin was asked. `NETSPOOL_LONG=1` tells long ones, 100,000 steps.
@Suite(.timeLimit(.minutes(LongRun.isOn ? 60 : 3)), .threadForEach) struct CacheStoriesModelTests {
  /// What the origin has to say, and what it says about it.
  private final class World: Sendable {
    struct State {
      var versions: [String: Int] = [:]
      var serial = 0
      var control = ""
    }

    let state = Mutex(State())

    func answer(_ request: RecordedRequest) -> Answer {
      state.withLock { state in
        let path = request.target
        guard request.method == "GET" else {
          state.versions[path, default: 0] += 1
          return .text("changed")
        }
        if path.hasPrefix("/login") {
          let id = path.dropFirst("/login?".count)
          return .text("in").header("Set-Cookie", "id=\(id)").header("Cache-Control", "no-store")
        }
        state.serial += 1
        let varies = path.hasSuffix("v")
        let user = request.header("Authorization") ?? request.header("Cookie") ?? "nobody"
        let foo = varies ? request.header("Foo") ?? "-" : "*"
        let version = "\(path)|\(user)|\(foo)|\(state.versions[path, default: 0])"
        let isSame = request.header("If-None-Match") == "\"\(version)\""
        var answer = isSame ? Answer.status(304) : .text("\(version)|\(state.serial)")
        answer = answer.header("ETag", "\"\(version)\"")
        if !state.control.isEmpty { answer = answer.header("Cache-Control", state.control) }
        return varies ? answer.header("Vary", "Foo") : answer
      }
    }
  }

  /// The second reading.
  private struct Model {
    struct Key: Hashable {
      let path: String
      /// With the process, where it alone can find what is theirs.
      let user: String
      let foo: String
    }

    struct Entry {
      var text: String
      var receivedAt: Int64
      var control: String

      var lifetime: Int64 { control.hasPrefix("max-age=") ? Int64(control.dropFirst(8)) ?? 0 : 0 }
      func isFresh(_ now: Int64) -> Bool { now - receivedAt < lifetime * 1000 }
      var mayBeStale: Bool { control != "no-cache" }
    }

    var entries: [Key: Entry] = [:]

    /// What must come of a GET, before the origin says anything: nil when it must be asked.
    func served(_ key: Key, _ policy: NetSpool.CachePolicy, now: Int64) -> Entry? {
      guard let entry = entries[key] else { return nil }
      switch policy {
      case .automatic: return entry.isFresh(now) ? entry : nil
      case .preferCached, .onlyIfCached: return entry.isFresh(now) || entry.mayBeStale ? entry : nil
      default: return nil
      }
    }
  }

  private static let controls = ["max-age=10", "max-age=3", "max-age=0", "no-cache", "no-store", ""]
  private static let policies: [NetSpool.CachePolicy] = [
    .automatic, .automatic, .automatic, .preferCached, .onlyIfCached, .alwaysValidate, .reload,
  ]

  @Test(arguments: LongRun.isOn ? Array(1...50) : [1, 2]) func `each response is what the model says`(
    seed: Int
  )
    async throws
  {
    let folder = try TestFolder()
    let (clock, world) = (WallClockHand(), World())
    var settings = CacheConfiguration()
    settings.directory = folder.path
    try await withEngine { [settings] first, origin in
      let (second, keeping) = (
        try NetworkEngine(to: origin, on: first.configuration.queue),
        try NetworkEngine(to: origin, on: first.configuration.queue) { $0.cookies = .inMemory }
      )
      for engine in [first, second, keeping] { try engine.useCache(settings, now: { clock.now }) }
      origin.fallback { world.answer($0) }
      let remote = try RemoteEngine(in: folder)
      async let other = #expect(processExitsWith: .success) {
        [path = folder.path as String, port = origin.port as Int] in
        try await RemoteEngine.serve(in: path, port: port)
      }
      var story = Story(
        seed: seed, random: SplitMix64(seed: UInt64(seed)), origin: origin, world: world, clock: clock,
        engines: [first, second, keeping], remote: remote)
      for _ in 0..<(LongRun.isOn ? 2_000 : 300) { try await story.goOn() }
      try remote.quit()
      _ = await other
    }
    _ = folder
  }

  /// What has happened so far.
  private struct Story {
    let seed: Int
    var random: SplitMix64
    let origin: ScriptedOrigin
    let world: World
    let clock: WallClockHand
    /// The last one keeps cookies.
    let engines: [NetworkEngine]
    let remote: RemoteEngine
    var model = Model()
    var step = 0
    /// What the jar holds.
    var cookie: String?

    mutating func goOn() async throws {
      step += 1
      let engine = random.below(engines.count + 2)  // behind the last: the other process
      let path = ["/a", "/b", "/v", "/wv"][random.below(4)]
      let place = "seed \(seed), step \(step), \(path), engine \(engine)"
      switch random.below(100) {
      case 0..<12:
        var post = RemoteEngine.Command(method: .post, path: path, now: clock.now)
        if random.chance(50) { post.fields = [("X-CSRF-Token", "\(step)")] }
        #expect(try await perform(post, engine).text == "changed", "\(place)")
        model.entries = model.entries.filter { $0.key.path != path }
      case 12..<24: clock.advance(seconds: Double(random.below(8)))
      case 24..<27:
        engines[engine % engines.count].removeCached(url: origin.url(path))
        model.entries = model.entries.filter { $0.key.path != path }
      case 27:
        engines[engine % engines.count].emptyCache()
        model.entries = [:]
      case 28:
        let id = "\(random.below(3))"
        _ = await engines[engines.count - 1].fetch("/login?\(id)")
        cookie = "id=\(id)"
      default: try await ask(engine, path, place)
      }
    }

    /// Each process sees what the other has committed.
    private func perform(_ command: RemoteEngine.Command, _ engine: Int) async throws -> RemoteEngine.Result {
      guard engine < engines.count else { return try await remote.perform(command) }
      let ending = await engines[engine].end(of: command.operation(of: engines[engine]))
      await blocking { [engines] in engines[0].flushCache() }
      return RemoteEngine.Result(
        text: ending.text, code: ending.code.map { "\($0)" } ?? "-",
        source: ending.response.map { "\($0.source)" } ?? "-")
    }

    private mutating func ask(_ engine: Int, _ path: String, _ place: String) async throws {
      let isRemote = engine >= engines.count
      var user = ["nobody", "Bearer A", "Bearer B", "Bearer B"][random.below(4)]
      let foo = ["-", "1", "2"][random.below(3)]
      let control = CacheStoriesModelTests.controls[random.below(CacheStoriesModelTests.controls.count)]
      world.state.withLock { $0.control = control }
      var command = RemoteEngine.Command(path: path, now: clock.now)
      command.policy = CacheStoriesModelTests.policies[random.below(CacheStoriesModelTests.policies.count)]
      command.fields = [("X-Request-Id", "\(step)")]
      if foo != "-" { command.fields.append(("Foo", foo)) }
      // A name makes what is theirs the same user's in all processes.
      let isNamed = user == "Bearer B" && random.chance(50)
      if isNamed { command.scope = "B" }
      if user != "nobody" { command.fields.append(("Authorization", user)) }
      var owner = user == "nobody" || isNamed ? user + (isNamed ? "!" : "") : "\(user) \(isRemote)"
      // What an engine with a jar is given is its own, also before the first cookie.
      if engine == engines.count - 1 {
        if user == "nobody", let cookie { user = cookie }
        if !isNamed { owner += " \(cookie ?? "jar")" }
      }
      let before = origin.requestCount
      let result = try await perform(command, engine)
      let asked = origin.requestCount - before
      judge(
        result, asked, user, Model.Key(path: path, user: owner, foo: path.hasSuffix("v") ? foo : "*"),
        command,
        control, "\(place), \(command.policy), \(owner), \(foo), \(control)")
    }

    private mutating func judge(
      _ result: RemoteEngine.Result, _ asked: Int, _ user: String, _ key: Model.Key,
      _ command: RemoteEngine.Command, _ control: String, _ place: String
    ) {
      if let entry = model.served(key, command.policy, now: command.now) {
        #expect(result.text == entry.text && result.source == "cache" && asked == 0, "\(place): \(result)")
        return
      }
      if command.policy == .onlyIfCached {
        #expect(result.code == "notCached" && asked == 0, "\(place): \(result)")
        return
      }
      #expect(asked == 1, "\(place): \(result)")
      let version = world.state.withLock { $0.versions[key.path, default: 0] }
      let prefix = "\(key.path)|\(user)|\(key.foo)|\(version)|"
      #expect(result.text?.hasPrefix(prefix) == true, "\(place): \(result)")
      if let held = model.entries[key], command.policy != .reload, held.text.hasPrefix(prefix) {
        #expect(result.text == held.text && result.source == "revalidated", "\(place): \(result)")
        let kept = control.isEmpty ? held.control : control
        model.entries[key] = Model.Entry(text: held.text, receivedAt: command.now, control: kept)
      } else {
        #expect(result.source == "network", "\(place): \(result)")
        model.entries[key] = Model.Entry(text: result.text ?? "", receivedAt: command.now, control: control)
      }
      if control == "no-store" { model.entries[key] = nil }
    }
  }
}
