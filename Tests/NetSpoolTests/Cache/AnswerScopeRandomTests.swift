import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// Engines with random settings share caches; every answer says which server gave it, and to which request.
@Suite struct AnswerScopeRandomTests {
  /// The servers, by their letters: plain HTTP, two behind TLS of authorities of their own, two proxies.
  private enum Server: String, CaseIterable {
    case plain = "A", first = "B", second = "C", near = "P", far = "Q"
  }

  private enum Trust: CaseIterable { case system, first, both, everybody, wrongPin }
  private enum Egress: CaseIterable { case any, publicOnly, allButFirst, everything }
  /// `who.example.invalid` is this machine, or one where nobody is at home.
  private enum Way: CaseIterable { case known, elsewhere, near, far }

  /// What two requests must have in common to be given one answer.
  private struct Identity: Hashable {
    var name: String?
    var field: String?
    var account: UInt64?
    var cookie: String?

    static let nobody = Identity()
  }

  private struct Guest {
    let engine: NetworkEngine
    let trust: Trust
    let egress: Egress
    let way: Way
    let account: NetworkCredentials?
  }

  /// One request, and which answers it may be given.
  private struct Question {
    let guest: Guest
    let server: Server
    let isNamed: Bool
    let isRedirected: Bool
    let identity: Identity

    /// The server that the request itself would reach and may believe; nil: none.
    var reachable: Server? {
      if isRedirected { return accepts(.first) ? .first : nil }
      switch guest.way {
      case .near: return server == .plain ? .near : nil
      case .far: return server == .plain ? .far : nil
      case .elsewhere where isNamed: return nil
      case .known, .elsewhere: return accepts(server) ? server : nil
      }
    }

    private func accepts(_ server: Server) -> Bool {
      switch guest.egress {
      case .publicOnly: return false
      case .allButFirst where server == .first: return false
      case .any, .allButFirst, .everything: break
      }
      return switch (guest.trust, server) {
      case (_, .plain), (.everybody, _), (.both, _): true
      case (.first, .first): true
      case (.system, _), (.wrongPin, _), (.first, _): false
      }
    }
  }

  /// All servers of a round, and the files of their authorities.
  private struct Town {
    let origins: [Server: ScriptedOrigin]
    let folder: TestFolder

    init() throws {
      var origins: [Server: ScriptedOrigin] = [:]
      for server in Server.allCases {
        let isSecure = server == .first || server == .second
        let origin = try ScriptedOrigin(tls: isSecure ? .selfSigned : nil)
        origin.fallback { request in
          if request.header("If-None-Match") != nil, request.path != "/new" { return Answer(status: 304) }
          return .text("\(server.rawValue) \(request.header("X-Request-Id") ?? "-")")
            .header("Cache-Control", request.path == "/stale" ? "max-age=0" : "max-age=1000")
            .header("ETag", "\"\(server.rawValue)\"")
        }
        origins[server] = origin
      }
      origins[.plain]?.on("/moved", .redirect(to: origins[.first]?.url("/kept") ?? "", status: 301))
      self.origins = origins
      folder = try TestFolder()
      let (first, second) = (authority(.first), authority(.second))
      try folder.write("first.pem", first)
      try folder.write("both.pem", first + second)
    }

    private func authority(_ server: Server) -> String { origins[server]?.certificateAuthority ?? "" }

    func port(_ server: Server) -> Int { origins[server]?.port ?? 0 }

    func guest(_ random: inout SplitMix64, on queue: NetworkQueue) throws -> Guest {
      var configuration = NetworkEngine.Configuration()
      configuration.queue = queue
      configuration.scheme = .http
      configuration.port = port(.plain)
      configuration.allowsCredentialsInClear = true
      let way = Way.allCases[random.below(4)]
      configuration.resolve = ["who.example.invalid": [way == .elsewhere ? "127.0.0.2" : "127.0.0.1"]]
      if way == .near { configuration.proxy = "http://127.0.0.1:\(port(.near))" }
      if way == .far { configuration.proxy = "http://127.0.0.1:\(port(.far))" }
      let isDirect = way == .known || way == .elsewhere
      let egress = isDirect ? Egress.allCases[random.below(4)] : .any
      let forbidden = port(.first)
      switch egress {
      case .any: break
      case .publicOnly: configuration.egress = .publicOnly
      case .allButFirst: configuration.egress = .rule { $0.port != forbidden }
      case .everything: configuration.egress = .rule { _ in true }
      }
      let trust = Trust.allCases[random.below(5)]
      switch trust {
      case .system: break
      case .first: configuration.tls.caFile = folder["first.pem"]
      case .both: configuration.tls.caFile = folder["both.pem"]
      case .everybody: configuration.tls.unsafelyTrustsAnyCertificate = true
      case .wrongPin:
        configuration.tls.caFile = folder["both.pem"]
        configuration.tls.pinnedPublicKey = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
      }
      let hasAccount = trust != .wrongPin && random.chance(30)
      configuration.credentials = hasAccount ? Self.account(&random) : nil
      let engine = try NetworkEngine(host: hasAccount ? "127.0.0.1" : nil, configuration: configuration)
      var cache = CacheConfiguration()
      cache.directory = folder.path + "/cache"
      try engine.useCache(cache)
      return Guest(engine: engine, trust: trust, egress: egress, way: way, account: configuration.credentials)
    }

    private static func account(_ random: inout SplitMix64) -> NetworkCredentials? {
      switch random.below(4) {
      case 0: .fields(["X-Api-Key": random.chance(50) ? "ann" : "bob"])
      case 1: .clientCertificate(path: random.chance(50) ? "/ann.pem" : "/bob.pem")
      case 2: .clientCertificate(path: "/ann.pem").with(.bearer(random.chance(50) ? "1" : "2"))
      default: nil
      }
    }

    /// A random request, which says its number to whoever answers.
    func question(
      _ random: inout SplitMix64, _ number: Int, from guest: Guest
    ) -> (Question, NetworkOperation) {
      // A proxy knows of no redirect.
      let isRedirected = random.chance(10) && (guest.way == .known || guest.way == .elsewhere)
      let server = isRedirected ? .plain : [Server.plain, .first, .second][random.below(3)]
      let isNamed = !isRedirected && server == .plain && random.chance(40)
      let host = isNamed ? "who.example.invalid" : "127.0.0.1"
      let path = isRedirected ? "/moved" : ["/kept", "/stale", "/new"][random.below(3)]
      let operation = guest.engine.operation(url: origins[server]?.url(path, host: host) ?? "")
      operation.setHeader("X-Request-Id", "\(number)")
      var identity = Identity()
      if random.chance(40) { identity.field = random.chance(50) ? "ann" : "bob" }
      if random.chance(15) { identity.cookie = "id=\(random.below(2))" }
      let own = random.chance(30) ? Self.account(&random) : nil
      let isHome = server == .plain && !isNamed
      identity.account = (own?.over(isHome ? guest.account : nil) ?? (isHome ? guest.account : nil))?.id
      if random.chance(10) { identity = Identity(name: "team") }
      if let field = identity.field { operation.setHeader("Authorization", field) }
      if let cookie = identity.cookie { operation.setHeader("Cookie", cookie) }
      if let own { operation.setCredentials(own) }
      let policies = CachePolicy.allCases
      let policy = random.chance(60) ? CachePolicy.automatic : policies[random.below(policies.count)]
      operation.configure {
        $0.credentialScope = identity.name
        $0.cachePolicy = policy == .cachedThenFresh ? .automatic : policy
      }
      // What the name stands for, it stands for at the other origin as well; the rest is left behind.
      if isRedirected, identity.name == nil { identity = .nobody }
      let question = Question(
        guest: guest, server: server, isNamed: isNamed, isRedirected: isRedirected, identity: identity)
      return (question, operation)
    }
  }

  @Test func `each answer is one that its request could have fetched itself`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    let rounds = LongRun.isOn ? 200 : 6
    var (answered, fromCache) = (0, 0)
    for round in 0..<rounds {
      var random = SplitMix64(seed: seed, stream: UInt64(round))
      let town = try Town()
      var questions: [Int: Question] = [:]
      try await withQueue { queue in
        try await withQueue { other in
          let guests = try (0..<30).map { try town.guest(&random, on: $0 % 2 == 0 ? queue : other) }
          for batch in 0..<25 {
            var operations: [(Int, NetworkOperation)] = []
            for place in 0..<20 {
              let number = batch * 20 + place
              let (question, operation) = town.question(&random, number, from: guests[random.below(30)])
              questions[number] = question
              operations.append((number, operation))
            }
            for (number, operation) in operations { questions[number]?.guest.engine.enqueue(operation) }
            for (number, operation) in operations {
              guard let answer = await operation.end().response, let asked = questions[number] else {
                continue
              }
              answered += 1
              if answer.source != .network { fromCache += 1 }
              let words = (answer.text ?? "").split(separator: " ").map(String.init)
              let comment: Comment = "seed \(seed), round \(round), request \(number): \(words)"
              #expect(words.first == asked.reachable?.rawValue, comment)
              guard words.count == 2, let fetcher = Int(words[1]).flatMap({ questions[$0] }) else {
                // A redirect leaves the number behind, and all that says who asks.
                #expect(asked.identity == .nobody || asked.identity.name != nil, comment)
                continue
              }
              #expect(fetcher.identity == asked.identity, comment)
              #expect(fetcher.reachable == asked.reachable, comment)
            }
          }
        }
      }
    }
    #expect(answered > rounds * 100 && fromCache > answered / 10, "\(answered), \(fromCache)")
  }
}
