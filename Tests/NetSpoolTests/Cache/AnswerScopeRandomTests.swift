import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Engines with random settings share caches; every answer says which server gave it, and to which request.
@Suite struct AnswerScopeRandomTests {
  /// The servers, by their letters: plain HTTP, two behind TLS of authorities of their own, two proxies.
  private enum Server: String, CaseIterable {
    case plain = "A", first = "B", second = "C", near = "P", far = "Q"

    var isSecure: Bool { self == .first || self == .second }
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
    /// An engine that keeps cookies: what its jar sends may name a user.
    var jar: Int?
  }

  private struct Guest {
    let engine: NetworkEngine
    let trust: Trust
    let egress: Egress
    let way: Way
    let account: NetworkCredentials?
    let jar: Int?
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

  /// Where all servers of a round are, the files of their authorities and the cache: the same for each process.
  private struct Town: Sendable {
    let ports: [Int]
    let folder: String

    func port(_ server: Server) -> Int { ports[Server.allCases.firstIndex(of: server) ?? 0] }

    func url(_ server: Server, _ path: String, host: String = "127.0.0.1") -> String {
      "\(server.isSecure ? "https" : "http")://\(host):\(port(server))\(path)"
    }

    func guest(_ number: Int, _ random: inout SplitMix64, on queue: NetworkQueue) throws -> Guest {
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
      case .first: configuration.tls.caFile = folder + "/first.pem"
      case .both: configuration.tls.caFile = folder + "/both.pem"
      case .everybody: configuration.tls.unsafelyTrustsAnyCertificate = true
      case .wrongPin:
        configuration.tls.caFile = folder + "/both.pem"
        configuration.tls.pinnedPublicKey = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
      }
      let hasAccount = trust != .wrongPin && random.chance(30)
      configuration.credentials = hasAccount ? Self.account(&random) : nil
      let hasJar = random.chance(20)
      if hasJar { configuration.cookies = .inMemory }
      let engine = try NetworkEngine(host: hasAccount ? "127.0.0.1" : nil, configuration: configuration)
      try engine.useCache(.patient(folder + "/cache"))
      return Guest(
        engine: engine, trust: trust, egress: egress, way: way, account: configuration.credentials,
        jar: hasJar ? number : nil)
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
      let operation = guest.engine.operation(url: url(server, path, host: host))
      operation.setHeader("X-Request-Id", "\(number)")
      var identity = Identity(jar: guest.jar)
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
      if isRedirected, identity.name == nil { identity = Identity(jar: guest.jar) }
      let question = Question(
        guest: guest, server: server, isNamed: isNamed, isRedirected: isRedirected, identity: identity)
      return (question, operation)
    }
  }

  /// The servers themselves.
  private static func makeOrigins(in folder: TestFolder) throws -> [ScriptedOrigin] {
    var origins: [ScriptedOrigin] = []
    for server in Server.allCases {
      let origin = try ScriptedOrigin(tls: server.isSecure ? .selfSigned : nil)
      origin.fallback { request in
        if request.header("If-None-Match") != nil, request.path != "/new" { return Answer(status: 304) }
        return .text("\(server.rawValue) \(request.header("X-Request-Id") ?? "-")")
          .header("Cache-Control", request.path == "/stale" ? "max-age=0" : "max-age=1000")
          .header("Set-Cookie", "seen=\(server.rawValue)").header("ETag", "\"\(server.rawValue)\"")
      }
      origins.append(origin)
    }
    origins[0].on("/moved", .redirect(to: origins[1].url("/kept"), status: 301))
    let authorities = origins.map { $0.certificateAuthority ?? "" }
    try folder.write("first.pem", authorities[1])
    try folder.write("both.pem", authorities[1] + authorities[2])
    return origins
  }

  /// One process in a round: its engines, and the requests that they make, twenty at a time. The same for the same seed.
  private struct Visit {
    static let guestsMax = 30
    static let batches = 25
    static let batch = 20

    let town: Town
    let process: Int
    private var random: SplitMix64
    private let guests: [Guest]

    init(_ town: Town, process: Int, seed: UInt64, on queues: [NetworkQueue]) throws {
      (self.town, self.process) = (town, process)
      var random = SplitMix64(seed: seed, stream: UInt64(process))
      guests = try (0..<Self.guestsMax).map {
        try town.guest($0 << 1 | process, &random, on: queues[$0 % queues.count])
      }
      self.random = random
    }

    mutating func next() -> [(number: Int, question: Question, operation: NetworkOperation)] {
      (0..<Self.batch).map { _ in
        let guest = guests[random.below(Self.guestsMax)]
        let number = random.below(1 << 40) << 1 | process
        let (question, operation) = town.question(&random, number, from: guest)
        return (number, question, operation)
      }
    }

    /// Says what was answered, a line for each: number, source, and the answer's words.
    mutating func run() async -> [String] {
      var lines: [String] = []
      for _ in 0..<Self.batches {
        let batch = next()
        for one in batch { one.question.guest.engine.enqueue(one.operation) }
        for one in batch {
          guard let answer = await one.operation.end().response else { continue }
          lines.append("\(one.number) \(answer.source == .network ? "-" : "cache") \(answer.text ?? "")")
        }
      }
      await closeCaches()
      return lines
    }

    /// At the exit no thread of a store has anything in hand.
    func closeCaches() async {
      await blocking { [engines = guests.map(\.engine)] in for engine in engines { engine.closeCache() } }
    }
  }

  /// In another process.
  private static func visit(_ folder: String, _ ports: [Int], _ seed: UInt64) async throws {
    var visit = try Visit(Town(ports: ports, folder: folder), process: 1, seed: seed, on: [NetworkQueue()])
    try TestFiles.write(Array(await visit.run().joined(separator: "\n").utf8), to: folder + "/answers")
  }

  @Test func `each answer is one that its request could have fetched itself`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    let rounds = LongRun.isOn ? 100 : 2
    var (answered, fromCache) = (0, 0)
    for round in 0..<rounds {
      let folder = try TestFolder()
      let origins = try Self.makeOrigins(in: folder)
      let town = Town(ports: origins.map(\.port), folder: folder.path)
      let seed = seed &+ UInt64(round)
      try await withQueue { queue in
        try await withQueue { other in
          async let child = #expect(processExitsWith: .success) {
            [path = folder.path as String, ports = town.ports as [Int], seed = seed as UInt64] in
            try await AnswerScopeRandomTests.visit(path, ports, seed)
          }
          var visit = try Visit(town, process: 0, seed: seed, on: [queue, other])
          var lines = await visit.run()
          _ = await child
          lines += try folder.text("answers").split(separator: "\n").map(String.init)
          let questions = try await Self.questions(of: town, seed: seed, on: queue)
          for line in lines {
            let words = line.split(separator: " ").map(String.init)
            answered += 1
            if words[1] == "cache" { fromCache += 1 }
            Self.check(words, questions, "seed \(seed): \(line)")
          }
        }
      }
    }
    // Of a thousand in each round: so many as even guests can ask who are mostly refused.
    #expect(answered > rounds * 100 && fromCache > answered / 20, "seed \(seed): \(answered), \(fromCache)")
  }

  /// All requests of both processes, by their numbers.
  private static func questions(
    of town: Town, seed: UInt64, on queue: NetworkQueue
  ) async throws -> [Int: Question] {
    var questions: [Int: Question] = [:]
    for process in 0...1 {
      var visit = try Visit(town, process: process, seed: seed, on: [queue])
      for _ in 0..<Visit.batches { for one in visit.next() { questions[one.number] = one.question } }
      await visit.closeCaches()
    }
    return questions
  }

  /// - Parameter words: number, source, and of the answer the server and the request that it was given to.
  private static func check(_ words: [String], _ questions: [Int: Question], _ comment: Comment) {
    guard words.count == 4, let asked = Int(words[0]).flatMap({ questions[$0] }) else {
      Issue.record(comment)
      return
    }
    #expect(words[2] == asked.reachable?.rawValue, comment)
    guard let fetcher = Int(words[3]).flatMap({ questions[$0] }) else {
      // A redirect leaves the number behind, and all that says who asks.
      let isNamed = asked.identity.name != nil
      #expect(isNamed || asked.identity == Identity(jar: asked.identity.jar), comment)
      return
    }
    #expect(fetcher.identity == asked.identity, comment)
    #expect(fetcher.reachable == asked.reachable, comment)
  }
}
