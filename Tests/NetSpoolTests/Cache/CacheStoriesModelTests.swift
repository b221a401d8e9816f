import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// Random stories of several users, at two engines of this process, one with a cookie jar and one of another process, all
/// with one store, against a second reading of the rules (`CacheReading`): what each response is, where it comes from, and
/// whether the origin was asked. `NETSPOOL_LONG=1` tells long ones, 100,000 steps.
@Suite(.threadForEach) struct CacheStoriesModelTests {
  /// What the origin has to say, and what it says about it.
  private final class World: Sendable {
    struct State {
      var versions: [String: Int] = [:]
      var serial = 0
      var control = ""
      var age: Int64 = 0
      var fails = false
      /// What else a POST changes.
      var location = ""
    }

    let state = Mutex(State())

    func answer(_ request: RecordedRequest) -> Answer {
      state.withLock { state in
        let path = request.target
        if request.method == "POST" {
          for changed in Set([path, state.location]) { state.versions[changed, default: 0] += 1 }
          return .text("changed").header("Location", state.location)
        }
        if path.hasPrefix("/login") {
          let id = path.dropFirst("/login?".count)
          return .text("in").header("Set-Cookie", "id=\(id)").header("Cache-Control", "no-store")
        }
        if state.fails { return .status(503) }
        state.serial += 1
        let varies = path.hasSuffix("v")
        let user = request.header("Authorization") ?? request.header("Cookie") ?? "nobody"
        let foo = varies ? request.header("Foo") ?? "-" : "*"
        let version = "\(path)|\(user)|\(foo)|\(state.versions[path, default: 0])"
        let isSame = request.header("If-None-Match") == "\"\(version)\""
        var answer = isSame ? Answer.status(304) : .text("\(version)|\(state.serial + 100_000)")
        answer = answer.header("ETag", "\"\(version)\"")
        if state.age > 0 { answer = answer.header("Age", "\(state.age)") }
        if !state.control.isEmpty { answer = answer.header("Cache-Control", state.control) }
        return varies ? answer.header("Vary", "Foo") : answer
      }
    }
  }

  private static let controls = [
    "max-age=10", "max-age=3", "max-age=0", "no-cache", "no-store", "", "max-age=3, must-revalidate",
    "max-age=3, stale-if-error=5", "max-age=10, stale-if-error=2",
  ]
  private static let requestControls = [
    "max-age=0", "max-age=4", "max-stale", "max-stale=3", "min-fresh=4", "no-cache", "no-store",
    "max-age=2, max-stale=3", "stale-if-error=4",
  ]
  private static let policies: [NetSpool.CachePolicy] = [
    .automatic, .automatic, .automatic, .preferCached, .onlyIfCached, .alwaysValidate, .reload,
  ]

  @Test(arguments: LongRun.isOn ? Array(1...50) : [1, 2])
  func `each response is what the model says`(seed: Int) async throws {
    let folder = try TestFolder()
    let (clock, world) = (WallClockHand(), World())
    let settings = CacheConfiguration.patient(folder.path)
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
    var model = CacheReading()
    var step = 0
    /// What the jar holds.
    var cookie: String?

    private static let paths = ["/a", "/b", "/v", "/wv"]

    mutating func goOn() async throws {
      step += 1
      let engine = random.below(engines.count + 2)  // behind the last: the other process
      let path = Self.paths[random.below(4)]
      let place = "seed \(seed), step \(step), \(path), engine \(engine)"
      switch random.below(100) {
      case 0..<12:
        var post = RemoteEngine.Command(method: .post, path: path, now: clock.now)
        if random.chance(50) { post.fields = [("X-CSRF-Token", "\(step)")] }
        let other = random.chance(30) ? Self.paths[random.below(4)] : path
        world.state.withLock { $0.location = other }
        #expect(try await perform(post, engine).text == "changed", "\(place)")
        model.entries = model.entries.filter { $0.key.path != path && $0.key.path != other }
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
      return RemoteEngine.Result(ending)
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
      let key = CacheReading.Key(path: path, user: owner, foo: path.hasSuffix("v") ? foo : "*")
      let tag = "\"\(path)|\(user)|\(key.foo)|\(world.state.withLock { $0.versions[path, default: 0] })\""
      let request = complete(&command, key, tag)
      let before = origin.requestCount
      let result = try await perform(command, engine)
      let visit = Visit(key: key, tag: tag, control: control, asked: origin.requestCount - before)
      judge(result, visit, request, "\(place), \(command), \(control), \(result)")
    }

    /// What the caller asks besides, and how the origin is.
    private mutating func complete(
      _ command: inout RemoteEngine.Command, _ key: CacheReading.Key, _ tag: String
    )
      -> CacheReading.Request
    {
      let (age, fails) = (Int64(random.chance(30) ? random.below(6) : 0), random.chance(15))
      world.state.withLock { ($0.age, $0.fails) = (age, fails) }
      var request = CacheReading.Request(policy: command.policy, now: command.now)
      guard command.policy == .automatic else { return request }
      if random.chance(40) {
        let control = CacheStoriesModelTests.requestControls[
          random.below(CacheStoriesModelTests.requestControls.count)]
        command.fields.append(("Cache-Control", control))
        request.control = CacheReading.Control(control)
      }
      switch random.below(10) {
      case 0:
        command.method = .head
        request.isHead = true
      case 1:
        let own = [model.entries[key]?.tag ?? "\"x\"", tag, "\"x\""][random.below(3)]
        command.fields.append(("If-None-Match", own))
        request.tag = own
      case 2:
        command.fields.append(("Range", "bytes=1-3"))
        request.range = 1...3
      default: break
      }
      return request
    }

    /// What the origin would say, and whether it was asked.
    private struct Visit {
      let key: CacheReading.Key
      let tag: String
      let control: String
      let asked: Int
    }

    private mutating func judge(
      _ result: RemoteEngine.Result, _ visit: Visit, _ request: CacheReading.Request, _ place: String
    ) {
      let held = model.entries[visit.key]
      if let held, model.serves(held, request) {
        #expect(visit.asked == 0, "\(place)")
        return expect(result, "cache", model.shown(held, request), place)
      }
      if request.policy == .onlyIfCached {
        #expect(result.code == "notCached" && visit.asked == 0, "\(place)")
        return
      }
      #expect(visit.asked == 1, "\(place)")
      guard world.state.withLock({ $0.fails }) else { return learn(result, visit, request, held, place) }
      if let held, model.standsIn(held, request) {
        expect(result, "cache", model.shown(held, request), place)
      } else {
        #expect(result.status == 503, "\(place)")
      }
    }

    private func expect(
      _ result: RemoteEngine.Result, _ source: String, _ shown: (status: Int, text: String), _ place: String
    ) {
      #expect(
        result.source == source && result.status == shown.status && result.text == shown.text,
        "\(place): \(shown)"
      )
    }

    /// From what the origin has said.
    private mutating func learn(
      _ result: RemoteEngine.Result, _ visit: Visit, _ request: CacheReading.Request,
      _ held: CacheReading.Entry?, _ place: String
    ) {
      let age = world.state.withLock { $0.age }
      let isSame = held?.tag == visit.tag
      if let held, isSame, model.isConditional(held, request) {
        expect(result, "revalidated", (200, held.text), place)
        return model.renew(visit.key, visit.control, age: age, now: request.now)
      }
      let isUnchanged = request.tag == visit.tag
      let isWhole = !request.isHead && !isUnchanged
      #expect(result.source == "network" && result.status == (isUnchanged ? 304 : 200), "\(place)")
      #expect(result.text.hasPrefix(isWhole ? visit.tag.dropFirst().dropLast() + "|" : ""), "\(place)")
      if request.control.has("no-store") { return }
      if isWhole {
        model.store(visit.key, result.text, visit.tag, visit.control, age: age, now: request.now)
      } else if isSame, request.isHead || visit.control != "no-store" {
        model.renew(visit.key, visit.control, age: age, now: request.now)
      } else if request.isHead {
        model.entries[visit.key] = nil
      }
    }
  }
}
