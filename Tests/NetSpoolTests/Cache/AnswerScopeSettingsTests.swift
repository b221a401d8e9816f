@_spi(Reflection) import Swift
import Testing

@testable import NetSpool
@testable import TestSupport

/// Every setting is classified: what it says of who answers, and for whom. A new one fails here until it is.
@Suite struct AnswerScopeSettingsTests {
  enum Part: Sendable {
    /// Who answers: a digest of values, which connections go by as well.
    case reach
    /// As `reach`, and what was frozen must find it again.
    case lastingReach
    /// For whom.
    case whom
    /// Names what is asked for.
    case resource
    /// None of it.
    case none
  }

  private struct Row<Settings>: Sendable {
    let name: String
    let part: Part
    /// Nil: it cannot be changed alone.
    let change: (@Sendable (inout Settings) -> Void)?

    init(_ name: String, _ part: Part, _ change: (@Sendable (inout Settings) -> Void)? = nil) {
      (self.name, self.part, self.change) = (name, part, change)
    }
  }

  private static let engines: [Row<NetworkEngine.Configuration>] = [
    Row("scheme", .resource) { $0.scheme = .http },
    Row("port", .resource) { $0.port = 81 },
    Row("basePath", .resource) { $0.basePath = "b" },
    Row("headers", .whom) { $0.headers = ["Authorization": "x"] },
    Row("omittedFields", .none) { $0.omittedFields = ["Accept"] },
    Row("secretFields", .whom) { ($0.secretFields, $0.headers) = (["X-Mine"], ["X-Mine": "1"]) },
    Row("openFields", .none) { ($0.openFields, $0.headers) = (["X-User"], ["X-User": "1"]) },
    Row("applicationVersion", .none) { $0.applicationVersion = "2" },
    Row("storageName", .none) { $0.storageName = "other" },
    Row("queue", .none),
    Row("delivery", .none) { $0.delivery = .loopThread },
    Row("timeouts", .none) { $0.timeouts.connect = .seconds(1) },
    Row("retry", .none) { $0.retry = .standard },
    Row("redirects", .none) { $0.redirects = .none },
    Row("credentials", .whom) { $0.credentials = .bearer("x") },
    Row("allowsCredentialsInClear", .none) { $0.allowsCredentialsInClear = true },
    Row("tls", .lastingReach) { $0.tls.unsafelyTrustsAnyCertificate = true },
    Row("proxy", .reach) { $0.proxy = "http://127.0.0.1:9" },
    Row("egress", .lastingReach) { $0.egress = .publicOnly },
    Row("resolve", .lastingReach) { $0.resolve = ["a.example": ["192.0.2.1"]] },
    Row("connectTo", .lastingReach) { $0.connectTo = ["::b.example:"] },
    Row("isIPv4", .none) { $0.isIPv4 = true },
    Row("unixSocket", .lastingReach) { $0.unixSocket = "/nowhere" },
    Row("allowedInterfaces", .reach) { $0.allowedInterfaces = ["lo"] },
    Row("httpVersion", .none) { $0.httpVersion = .http1 },
    Row("connectionAgeMax", .none) { $0.connectionAgeMax = .seconds(9) },
    Row("cookies", .whom) { $0.cookies = .inMemory },
    Row("cookieLines", .whom) {
      ($0.cookies, $0.cookieLines) = (.inMemory, ["a.example\tFALSE\t/\tFALSE\t0\tn\tv"])
    },
    Row("onWire", .none) { $0.onWire = { _ in } },
    Row("limits", .none) { $0.limits.bodyBytesInMemoryMax = 1 },
    Row("originPauseMax", .none) { $0.originPauseMax = .zero },
    Row("receiveBufferBytes", .none) { $0.receiveBufferBytes = 1 << 20 },
    Row("prepare", .none) { $0.prepare = { _ in } },
    Row("validate", .none) { $0.validate = { _ in } },
    Row("onEnd", .none) { $0.onEnd = { _, _, _ in } },
    Row("onUnhandledFailure", .none) { $0.onUnhandledFailure = { _ in } },
    Row("logger", .none),
  ]

  private static let trust: [Row<NetworkEngine.TLS>] = [
    Row("caFile", .reach) { $0.caFile = "/nowhere" },
    Row("caPath", .reach) { $0.caPath = "/nowhere" },
    Row("pinnedPublicKey", .reach) {
      $0.pinnedPublicKey = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    },
    Row("requiresSubjectAlternativeName", .reach) { $0.requiresSubjectAlternativeName = true },
    Row("unsafelyTrustsAnyCertificate", .lastingReach) { $0.unsafelyTrustsAnyCertificate = true },
  ]

  private static let caches: [Row<CacheConfiguration>] = [
    Row("directory", .none),
    Row("bytesMax", .none) { $0.bytesMax = 1 << 29 },
    Row("bodyBytesMax", .none) { $0.bodyBytesMax = 1 },
    Row("rules", .whom) { $0.rules.isShared = true },
    Row("defaultPolicy", .none) { $0.defaultPolicy = .preferCached },
    Row("namespace", .whom) { $0.namespace = "other" },
    Row("namespaceBytesMax", .none) { $0.namespaceBytesMax = 1 << 20 },
    Row("credentialScope", .whom) { $0.credentialScope = "ann" },
    Row("coalescesAcrossProcesses", .none) { $0.coalescesAcrossProcesses = false },
    Row("residentBytesMax", .none) { $0.residentBytesMax = 1 },
    Row("slack", .none) { $0.slack = 2 },
  ]

  private static let requests: [Row<NetworkRequest>] = [
    Row("url", .resource) { $0.url += "?b" },
    Row("method", .none),
    Row("headers", .whom) { $0.headers.set("Cookie", "x") },
    Row("priority", .none) { $0.priority = .high },
    Row("coalesces", .none) { $0.coalesces = false },
    Row("isFreezable", .none) { $0.isFreezable = true },
    Row("isRelative", .resource),
    Row("cachePolicy", .none) { $0.cachePolicy = .preferCached },
    Row("extras", .none),
  ]

  private static let extras: [Row<NetworkRequest>] = [
    Row("parameters", .resource), Row("parameterEncoding", .none) { $0.parameterEncoding = .json },
    Row("body", .none), Row("prepared", .none), Row("resumes", .none), Row("isCompressed", .none),
    Row("timeouts", .none) { $0.timeouts.connect = .seconds(1) },
    Row("retry", .none) { $0.retry = .standard },
    Row("redirects", .none) { $0.redirects = .none },
    Row("idempotencyKey", .none) { $0.idempotencyKey = "1" },
    Row("tag", .none) { $0.tag = "t" },
    Row("cacheLifetime", .none) { $0.cacheLifetime = .seconds(1) },
    Row("cacheKey", .resource) { $0.cacheKey = "k" },
    Row("credentialScope", .whom) { $0.credentialScope = "ann" },
    Row("notifiesOnlyChanges", .none) { $0.notifiesOnlyChanges = true },
    Row("credentials", .whom) { $0.credentials = .clientCertificate(path: "/ann.pem") },
    Row("waitsForOrigin", .none) { $0.waitsForOrigin = true },
    Row("compression", .none) { $0.compression = .gzip },
    Row("freezing", .none) { $0.freezing.lane = "l" },
  ]

  @Test func `every setting is classified`() {
    #if Logging
    #expect(Set(Self.engines.map(\.name)) == Set(Self.settings(of: NetworkEngine.Configuration.self)))
    #endif
    #expect(Set(Self.trust.map(\.name)) == Set(Self.settings(of: NetworkEngine.TLS.self)))
    #expect(Set(Self.caches.map(\.name)) == Set(Self.settings(of: CacheConfiguration.self)))
    #expect(Set(Self.requests.map(\.name)) == Set(Self.settings(of: NetworkRequest.self)))
    #expect(Set(Self.extras.map(\.name)) == Set(Self.settings(of: RequestExtras.self)))
  }

  @Test func `every setting is in the documentation's table`() throws {
    let folder = TestFiles.parts.dropLast("Tests/Parts".count) + "Sources/NetSpool/NetSpool.docc"
    let article = try TestFiles.text("\(folder)/Caching.md")
    let hidden = [
      "omittedFields", "cookieLines", "onWire", "connectTo", "isIPv4", "isRelative", "extras", "prepared",
      "resumes", "isCompressed",
    ]
    let names =
      Self.engines.map(\.name) + Self.trust.map(\.name) + Self.requests.map(\.name) + Self.extras.map(\.name)
    for name in Set(names).subtracting(hidden) {
      #expect(["`\(name)`", "`tls.\(name)`", "/\(name)``"].contains { article.contains($0) }, "\(name)")
    }
  }

  /// The stored properties, also of types that mirror something else.
  private static func settings(of type: Any.Type) -> [String] {
    var names: [String] = []
    _ = unsafe _forEachField(of: type) { name, _, _, _ in
      names.append(unsafe String(cString: name))
      return true
    }
    return names
  }

  /// What the cache makes of a request, and what connections and frozen requests go by.
  private struct Seen: Equatable {
    var reach: AnswerScope.Reach
    var scope: AnswerScope
    var resource: [UInt8]
  }

  @Test func `each setting does what it is classified as`() async throws {
    let folder = try TestFolder()
    try await withQueue { queue in
      func seen(
        _ engine: (inout NetworkEngine.Configuration) -> Void = { _ in },
        cache: (inout CacheConfiguration) -> Void = { _ in },
        request: (inout NetworkRequest) -> Void = { _ in }
      ) throws -> Seen {
        var settings = CacheConfiguration(directory: folder.path)
        cache(&settings)
        let engine = try NetworkEngine(host: "a.example", on: queue, engine)
        try engine.useCache(settings)
        var asked = engine.operation(path: "a").request
        request(&asked)
        let question = try #require(engine.cache?.question(about: asked))
        return Seen(
          reach: engine.reach, scope: question.scope,
          resource: Array(question.primaryKey.fullKey[question.resource]))
      }
      func check(_ name: String, _ part: Part, _ changed: Seen, _ standard: Seen) {
        #expect((changed.reach != standard.reach) == (part == .reach || part == .lastingReach), "\(name)")
        #expect((changed.reach.lasting != standard.reach.lasting) == (part == .lastingReach), "\(name)")
        let isApart = part != .none && part != .resource
        #expect((changed.scope != standard.scope) == isApart, "\(name)")
        #expect((changed.resource != standard.resource) == (part == .resource), "\(name)")
      }
      let standard = try seen()
      for row in Self.engines {
        if let change = row.change { check(row.name, row.part, try seen(change), standard) }
      }
      for row in Self.trust {
        if let change = row.change { check(row.name, row.part, try seen { change(&$0.tls) }, standard) }
      }
      for row in Self.caches {
        if let change = row.change { check(row.name, row.part, try seen(cache: change), standard) }
      }
      for row in Self.requests + Self.extras {
        if let change = row.change { check(row.name, row.part, try seen(request: change), standard) }
      }
      // Equal settings, also of engines that know nothing of each other, are one scope.
      for row in Self.engines where row.part == .reach || row.part == .lastingReach {
        if let change = row.change { #expect(try seen(change) == seen(change), "\(row.name)") }
      }
    }
  }

  @Test func `a digest of a reach is the same in every process, and none for all defaults`() {
    var settings = HandleSettings()
    #expect(AnswerScope.Reach(settings) == .standard)
    settings.egress = .publicOnly
    settings.tls.pinnedPublicKey = "sha256//A"
    let reach = AnswerScope.Reach(settings)
    #expect(reach.text == "ca0a7c76993c9149703709e1100dcdc6")
    #expect(reach.lasting == "fa35ad5d047416f7563054712e53e86c")
  }

  @Test func `what no engine could keep is refused by name`() throws {
    func reason(_ change: (inout NetworkEngine.Configuration) -> Void) -> String? {
      guard let error = NetworkEngine.refusal(change) else { return nil }
      return error.code == .invalidConfiguration ? error.reason : "\(error.code)"
    }
    let pin = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    #expect(
      reason { ($0.tls.pinnedPublicKey, $0.scheme) = (pin, .http) } == "tls.pinnedPublicKey without TLS")
    #expect(
      reason { ($0.tls.requiresSubjectAlternativeName, $0.scheme) = (true, .http) }
        == "tls.requiresSubjectAlternativeName without TLS")
    for wrong in ["", "sha256//", "sha256//AAAA", "sha1//AAAA", pin + ";", "/a/key.pem", " " + pin] {
      #expect(reason { $0.tls.pinnedPublicKey = wrong } == "tls.pinnedPublicKey", "\(wrong)")
    }
    #expect(reason { $0.tls.pinnedPublicKey = pin + ";" + pin } == nil)
    #expect(reason { $0.allowedInterfaces = ["lo", "none7"] } == "allowedInterfaces: none7")
    #expect(reason { $0.allowedInterfaces = ["lo", "none*"] } == nil)
  }
}
