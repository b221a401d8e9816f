import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// Random stories of three users at two engines with one store, against a second reading of RFC 9111 that knows nothing of
/// the first: what each response is, where it comes from, and whether the origin was asked. `NETSPOOL_LONG=1` tells long
/// ones.
@Suite(.timeLimit(.minutes(60))) struct CacheStoriesModelTests {
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
        state.serial += 1
        let varies = path.hasSuffix("v")
        let user = request.header("Authorization") ?? "nobody"
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
      let second = try NetworkEngine(to: origin, on: first.configuration.queue)
      for engine in [first, second] { try engine.useCache(settings, now: { clock.now }) }
      origin.fallback { world.answer($0) }
      var random = SplitMix64(seed: UInt64(seed))
      var model = Model()
      for step in 0..<(LongRun.isOn ? 2_000 : 300) {
        let engine = random.chance(50) ? first : second
        let path = ["/a", "/b", "/v", "/wv"][random.below(4)]
        let place = "seed \(seed), step \(step), \(path)"
        switch random.below(100) {
        case 0..<12:
          let fields: NetworkRequest.Headers = random.chance(50) ? ["X-CSRF-Token": "\(step)"] : [:]
          let post = engine.operation(path: path, method: .post)
          for field in fields { post.setHeader(field.name, field.value) }
          #expect(await engine.end(of: post).text == "changed", "\(place)")
          model.entries = model.entries.filter { $0.key.path != path }
        case 12..<24: clock.advance(seconds: Double(random.below(8)))
        case 24..<27:
          engine.removeCached(url: origin.url(path))
          model.entries = model.entries.filter { $0.key.path != path }
        case 27:
          engine.emptyCache()
          model.entries = [:]
        default: await ask(engine, origin, path, &random, &model, world, clock.now, place)
        }
      }
    }
    _ = folder
  }

  private func ask(
    _ engine: NetworkEngine, _ origin: ScriptedOrigin, _ path: String, _ random: inout SplitMix64,
    _ model: inout Model, _ world: World, _ now: Int64, _ place: String
  ) async {
    let user = ["nobody", "Bearer A", "Bearer B"][random.below(3)]
    let foo = ["-", "1", "2"][random.below(3)]
    let policy = Self.policies[random.below(Self.policies.count)]
    let control = Self.controls[random.below(Self.controls.count)]
    world.state.withLock { $0.control = control }
    let operation = engine.operation(path: path).configure { $0.cachePolicy = policy }
    operation.setHeader("X-Request-Id", place)
    if user != "nobody" { operation.setHeader("Authorization", user) }
    if foo != "-" { operation.setHeader("Foo", foo) }
    let before = origin.requestCount
    let ending = await engine.end(of: operation)
    let asked = origin.requestCount - before

    let key = Model.Key(path: path, user: user, foo: path.hasSuffix("v") ? foo : "*")
    let place = "\(place), \(policy), \(user), \(foo), \(control)"
    if let entry = model.served(key, policy, now: now) {
      #expect(ending.text == entry.text && ending.response?.source == .cache && asked == 0, "\(place)")
      return
    }
    if policy == .onlyIfCached {
      #expect(ending.code == .notCached && asked == 0, "\(place)")
      return
    }
    #expect(asked == 1, "\(place)")
    let version = world.state.withLock { $0.versions[path, default: 0] }
    let prefix = "\(path)|\(user)|\(key.foo)|\(version)|"
    #expect(ending.text?.hasPrefix(prefix) == true, "\(place): \(ending.text ?? "nothing")")
    if let held = model.entries[key], policy != .reload, held.text.hasPrefix(prefix) {
      #expect(ending.text == held.text && ending.response?.source == .revalidated, "\(place)")
      let kept = control.isEmpty ? held.control : control
      model.entries[key] = Model.Entry(text: held.text, receivedAt: now, control: kept)
    } else {
      #expect(ending.response?.source == .network, "\(place)")
      model.entries[key] = Model.Entry(text: ending.text ?? "", receivedAt: now, control: control)
    }
    if control == "no-store" { model.entries[key] = nil }
  }
}
