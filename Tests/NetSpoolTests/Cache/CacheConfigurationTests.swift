import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// A cache that cannot be is an error, never silently none.
struct CacheConfigurationTests {
  /// The length of one is 32 bits long in its record.
  @Test func `no body is stored that a record has no length for`() throws {
    let engine = try NetworkEngine(host: "127.0.0.1")
    let folder = try TestFolder()
    var settings = CacheConfiguration(directory: folder.path)
    (settings.bytesMax, settings.bodyBytesMax) = (100 << 30, 8 << 30)
    try engine.useCache(settings)
    let cache = try #require(engine.cache)
    let limits = [cache.settings.bodyBytesMax, cache.store.settings.bodyBytesMax]
    #expect(limits == [Int(UInt32.max), Int(UInt32.max)])
  }

  @Test func `a setting that makes no sense`() throws {
    let mistakes: [(name: String, make: (inout CacheConfiguration) -> Void)] = [
      ("bytesMax", { $0.bytesMax = 0 }), ("bytesMax", { $0.bytesMax = -1 }),
      ("bodyBytesMax", { $0.bodyBytesMax = -1 }),
      ("namespace", { $0.namespace = "" }), ("namespace", { $0.namespace = "a/b" }),
      ("namespace", { $0.namespace = ".." }),
      ("namespace", { $0.namespace = String(repeating: "a", count: 65) }),
      ("namespaceBytesMax", { $0.namespaceBytesMax = -1 }),
      ("residentBytesMax", { $0.residentBytesMax = -1 }), ("directory", { $0.directory = "" }),
      ("directory", { $0.directory = "a\u{0}b" }),
    ]
    let folder = try TestFolder()
    for (index, mistake) in mistakes.enumerated() {
      var settings = CacheConfiguration(directory: folder.path)
      mistake.make(&settings)
      let engine = try NetworkEngine(host: "127.0.0.1")
      let error = failure(of: engine, settings)
      #expect(error?.code == .invalidConfiguration && error?.reason == mistake.name, "\(index)")
      #expect(engine.cacheStatistics == nil, "\(index)")
    }
  }

  @Test func `a name of a directory that cannot be one is refused when the engine is made`() {
    for name in ["", "..", "a/b", "a b"] {
      let error = NetworkEngine.refusal { $0.storageName = name }
      #expect(error?.code == .invalidConfiguration && error?.reason == "storageName", "\(name)")
    }
  }

  @Test func `a directory that cannot be used, and then one that can`() throws {
    let folder = try TestFolder()
    let engine = try NetworkEngine(host: "127.0.0.1")
    var settings = CacheConfiguration(directory: "/proc/netspool")
    let missing = failure(of: engine, settings)
    #expect(missing?.code == .storeOpenFailed && missing?.reason != nil)
    settings.directory = folder.path + "/open"
    #expect(unsafe mkdir(folder.path + "/open", 0o777) == 0)
    #expect(unsafe chmod(folder.path + "/open", 0o777) == 0)
    let open = failure(of: engine, settings)
    #expect(open?.code == .storeOpenFailed && open?.reason != nil)
    #expect(engine.cacheStatistics == nil)
    settings.directory = folder.path + "/made/here"
    try engine.useCache(settings)
    #expect(engine.cacheStatistics != nil)
    var status = stat()
    #expect(unsafe stat(folder.path + "/made/here", &status) == 0 && status.st_mode & 0o777 == 0o700)
  }

  @Test func `a second call changes nothing`() async throws {
    try await withCache { engine, origin, _ in
      origin.on("/a", .text("a").header("Cache-Control", "max-age=100"))
      _ = await engine.fetch("/a")
      let folder = try TestFolder()
      var other = CacheConfiguration(directory: folder.path)
      other.defaultPolicy = .noStore
      try engine.useCache(other)
      #expect(await engine.fetch("/a").response?.source == .cache)
      #expect(origin.requestCount == 1)
    }
  }

  @Test func `turned on late, it holds what comes from then on`() async throws {
    let folder = try TestFolder()
    try await withEngine { engine, origin in
      let early = await engine.held("/a", .text("a").header("Cache-Control", "max-age=1000"), at: origin)
      try engine.useCache(.init(directory: folder.path))
      origin.release("/a")
      #expect(await early.end().response?.source == .network)
      _ = await engine.fetch("/a")
      #expect(await engine.fetch("/a").response?.source == .cache)
    }
    _ = folder
  }

  private func failure(of engine: NetworkEngine, _ settings: CacheConfiguration) -> NetworkError? {
    Result { () throws(NetworkError) in try engine.useCache(settings) }.error
  }
}
