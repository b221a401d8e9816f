import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// One cache, several engines: each is given what it could have fetched itself, and nothing else.
@Suite struct AnswerScopeTests {
  /// Engines of one queue that share one cache, and the origins that they ask.
  private struct House {
    let queue: NetworkQueue
    let folder: TestFolder

    func engine(_ configure: (inout NetworkEngine.Configuration) -> Void = { _ in }) throws -> NetworkEngine {
      let engine = try NetworkEngine(on: queue) {
        $0.timeouts.total = .seconds(600)
        configure(&$0)
      }
      try engine.useCache(.patient(folder.path))
      return engine
    }
  }

  private func withHouse(_ body: (House) async throws -> Void) async throws {
    let folder = try TestFolder()
    try await withQueue { try await body(House(queue: $0, folder: folder)) }
  }

  private static let lasting = Answer.text("held").header("Cache-Control", "max-age=1000")

  // MARK: Jars

  @Test(arguments: [false, true])
  func `an engine with a jar fetches for itself, with cookies of a request or behind a redirect`(
    isRedirected: Bool
  ) async throws {
    try await withHouse { house in
      let (origin, other) = (try ScriptedOrigin(), try ScriptedOrigin())
      origin.fallback(Self.lasting)
      other.fallback(.redirect(to: origin.url("/a")))
      let engines = [
        try house.engine { $0.cookies = .inMemory }, try house.engine(),
        try house.engine { $0.cookies = .inMemory },
      ]
      for (place, engine) in engines.enumerated() {
        for _ in 0..<2 {
          let operation = engine.operation(url: isRedirected ? other.url("/b") : origin.url("/a"))
          if !isRedirected { operation.setHeader("Cookie", "id=1") }
          #expect(await engine.end(of: operation).text == "held")
          #expect(origin.requests.count == place + 1)
        }
      }
    }
  }

  // MARK: Trust

  @Test func `an answer of a server that an engine would refuse is not served to it`() async throws {
    try await withHouse { house in
      let origin = try ScriptedOrigin(tls: .selfSigned)
      origin.fallback(Self.lasting)
      let bundle = try house.folder.write("authority.pem", origin.certificateAuthority ?? "")
      let careless = try house.engine { $0.tls.unsafelyTrustsAnyCertificate = true }
      #expect(await careless.end(of: careless.operation(url: origin.url("/a"))).text == "held")
      let careful = try house.engine()
      #expect(await careful.end(of: careful.operation(url: origin.url("/a"))).code == .tlsRejected)
      let pinned = try house.engine {
        $0.tls.caFile = bundle
        $0.tls.pinnedPublicKey = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
      }
      #expect(await pinned.end(of: pinned.operation(url: origin.url("/a"))).code == .tlsRejected)
      let trusting = try house.engine { $0.tls.caFile = bundle }
      #expect(await trusting.end(of: trusting.operation(url: origin.url("/a"))).response?.source == .network)
      let equal = try house.engine { $0.tls.caFile = bundle }
      #expect(await equal.end(of: equal.operation(url: origin.url("/a"))).response?.source == .cache)
    }
  }

  @Test func `an authority that has left its file is not believed any more, in the cache or on a connection`()
    async throws
  {
    try await withHouse { house in
      let (origin, other) = (try ScriptedOrigin(tls: .selfSigned), try ScriptedOrigin(tls: .selfSigned))
      origin.fallback(Self.lasting)
      let bundle = try house.folder.write("authority.pem", origin.certificateAuthority ?? "")
      let before = try house.engine { $0.tls.caFile = bundle }
      #expect(await before.end(of: before.operation(url: origin.url("/a"))).text == "held")
      try house.folder.write("authority.pem", other.certificateAuthority ?? "")
      let after = try house.engine { $0.tls.caFile = bundle }
      for path in ["/a", "/b"] {
        #expect(await after.end(of: after.operation(url: origin.url(path))).code == .tlsRejected)
      }
    }
  }

  // MARK: Egress

  @Test(arguments: CachePolicy.allCases)
  func `a rule that says no is asked before the cache answers`(_ policy: NetSpool.CachePolicy) async throws {
    try await withHouse { house in
      let origin = try ScriptedOrigin()
      origin.fallback(Self.lasting)
      origin.on("/moved", .redirect(to: "/a", status: 301))
      let free = try house.engine()
      for path in ["/a", "/moved"] {
        #expect(await free.end(of: free.operation(url: origin.url(path))).text == "held")
      }
      let asked = origin.requestCount
      let expected: NetworkError.Code = policy == .onlyIfCached ? .notCached : .egressDenied
      for egress in [NetworkEngine.Egress.publicOnly, .rule { _ in false }] {
        let bound = try house.engine { $0.egress = egress }
        for path in ["/a", "/moved"] {
          let operation = bound.operation(url: origin.url(path))
          operation.cachePolicy = policy
          #expect(await bound.end(of: operation).code == expected, "\(policy) \(path)")
        }
      }
      #expect(origin.requestCount == asked)
    }
  }

  @Test(arguments: [NetSpool.CachePolicy.automatic, .preferCached, .staleWhileRevalidate, .onlyIfCached])
  func `a rule that has changed its mind is asked again, for each answer`(_ policy: NetSpool.CachePolicy)
    async throws
  {
    try await withHouse { house in
      let origin = try ScriptedOrigin()
      origin.on("/fresh", Self.lasting)
      origin.on("/stale", .text("held").header("Cache-Control", "max-age=0").header("ETag", "\"1\""))
      origin.on("/moved", .redirect(to: "/fresh", status: 301))
      let isOpen = Variable(true)
      let bound = try house.engine { $0.egress = .rule { _ in isOpen.value } }
      @Sendable func end(_ path: String) async -> Ending {
        let operation = bound.operation(url: origin.url(path))
        operation.cachePolicy = policy
        return await bound.end(of: operation)
      }
      for path in ["/fresh", "/stale", "/moved"] {
        #expect(await bound.end(of: bound.operation(url: origin.url(path))).text == "held")
      }
      #expect(await end("/fresh").response?.source == .cache)
      isOpen.value = false
      for path in ["/fresh", "/stale", "/moved"] {
        #expect(await end(path).code == (policy == .onlyIfCached ? .notCached : .egressDenied), "\(path)")
      }
      isOpen.value = true
      #expect(await end("/fresh").response?.source == .cache)
    }
  }

  @Test func `a rule that has changed its mind is asked before an exchange is shared`() async throws {
    try await withHouse { house in
      let origin = try ScriptedOrigin()
      origin.fallback(.text("late"))
      origin.hold("/a")
      let isOpen = Variable(true)
      let bound = try house.engine { $0.egress = .rule { _ in isOpen.value } }
      let first = bound.start(bound.operation(url: origin.url("/a")))
      #expect(await origin.waitForHits("/a", 1))
      isOpen.value = false
      #expect(await bound.end(of: bound.operation(url: origin.url("/a"))).code == .egressDenied)
      origin.release("/a", count: 1)
      #expect(await first.end().text == "late" && origin.requestCount == 1)
    }
  }

  @Test func `engines with the same rule share what it allowed`() async throws {
    try await withHouse { house in
      let origin = try ScriptedOrigin()
      origin.fallback(Self.lasting)
      let rule = NetworkEngine.Egress.rule { _ in true }
      for source in [NetworkResponse.Source.network, .cache] {
        let engine = try house.engine { $0.egress = rule }
        #expect(await engine.end(of: engine.operation(url: origin.url("/a"))).response?.source == source)
      }
      let other = try house.engine { $0.egress = .rule { _ in true } }
      #expect(await other.end(of: other.operation(url: origin.url("/a"))).response?.source == .network)
    }
  }

  // MARK: For whom

  @Test
  func `an account of a request goes before the user in its URL, in the cache as on the wire`() async throws {
    try await withHouse { house in
      let origin = try ScriptedOrigin()
      origin.fallback { .text($0.header("Authorization") ?? "").header("Cache-Control", "max-age=1000") }
      let engine = try house.engine()
      let url = "http://ann:1@127.0.0.1:\(origin.port)/a"
      for token in ["1", "2"] {
        let operation = engine.operation(url: url).setCredentials(.bearer(token))
        #expect(await engine.end(of: operation).text == "Bearer \(token)")
      }
    }
  }

  @Test func `what one server has asked of an account, another is not told`() async throws {
    try await withHouse { house in
      let (origin, proxy) = (try ScriptedOrigin(), try ScriptedOrigin())
      proxy.fallback { request in
        request.header("Authorization") == nil
          ? .status(401).header("WWW-Authenticate", "Basic realm=\"r\"") : .text("through the proxy")
      }
      origin.fallback { .text($0.header("Authorization") ?? "nothing") }
      let account = NetworkCredentials.password(user: "ann", password: "1")
      let led = try house.engine {
        $0.proxy = NetworkEngine.Proxy("http://127.0.0.1:\(proxy.port)")
        $0.allowsCredentialsInClear = true
      }
      let asked = led.operation(url: origin.url("/a")).setCredentials(account)
      #expect(await led.end(of: asked).text == "through the proxy")
      let direct = try house.engine()
      let other = direct.operation(url: origin.url("/b")).setCredentials(account)
      #expect(await direct.end(of: other).text == "nothing")
    }
  }

  @Test func `a certificate in the place of another is another account`() throws {
    let folder = try TestFolder()
    let path = try folder.write("me.pem", "ann")
    let ann = NetworkCredentials.clientCertificate(path: path)
    #expect(ann.id == NetworkCredentials.clientCertificate(path: path).id)
    try folder.write("me.pem", "bob")
    let bob = NetworkCredentials.clientCertificate(path: path)
    #expect(ann.id != bob.id && ann.connectionIdentity != bob.connectionIdentity)
  }

  // MARK: Frozen requests

  @Test(arguments: [false, true])
  func `a frozen request is sent by engines that would send it to the same server`(asks: Bool) async throws {
    try await withHouse { house in
      let origin = try ScriptedOrigin(starts: false)
      origin.on("/order", .text("taken"))
      var freezing = FreezeConfiguration(directory: house.folder.path + "/frozen")
      if asks { freezing.maySend = { _ in true } }
      func engine(_ configure: (inout NetworkEngine.Configuration) -> Void) throws -> NetworkEngine {
        let engine = try NetworkEngine(to: origin, on: house.queue, configure)
        try engine.useFreezing(freezing)
        return engine
      }
      let first = try engine { $0.resolve = ["who.example.invalid": ["127.0.0.1"]] }
      let frozen = Latch()
      let order = first.operation(path: "/order", method: .post).onFrozen { _ in frozen.open() }
      order.isFreezable = true
      first.enqueue(order)
      await frozen.opened()
      let others = [
        try engine { _ in }, try engine { $0.resolve = ["who.example.invalid": ["127.0.0.2"]] },
        try engine { $0.tls.unsafelyTrustsAnyCertificate = true }, try engine { $0.egress = .publicOnly },
      ]
      await first.shutDown(deadline: .zero)
      try origin.start()
      for other in others {
        #expect(other.frozenOperations.map(\.isWithinReach) == [false], "it can be looked at")
        other.thaw()
        #expect(await blocking { other.flushFrozen(deadline: 10) })
      }
      #expect(origin.requestCount == 0 && others[0].frozenOperations.count == 1)
      // Interfaces may change while it waits
      let equal = try engine {
        $0.resolve = ["who.example.invalid": ["127.0.0.1"]]
        $0.allowedInterfaces = ["lo"]
      }
      #expect(try await equal.thawed().result.get().text == "taken")
    }
  }
}
