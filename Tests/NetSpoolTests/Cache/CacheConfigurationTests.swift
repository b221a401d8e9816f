import Glibc
import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// A cache that cannot be is an error, never silently none.
struct CacheConfigurationTests {
  struct Mistake: Sendable, CustomTestStringConvertible {
    let name: String
    let make: @Sendable (inout CacheConfiguration) -> Void
    var testDescription: String { name }
    init(_ name: String, _ make: @escaping @Sendable (inout CacheConfiguration) -> Void) {
      self.name = name
      self.make = make
    }
  }

  static let mistakes = [
    Mistake("bytesMax") { $0.bytesMax = 0 }, Mistake("bytesMax") { $0.bytesMax = -1 },
    Mistake("bodyBytesMax") { $0.bodyBytesMax = -1 },
    Mistake("namespace") { $0.namespace = "" }, Mistake("namespace") { $0.namespace = "a/b" },
    Mistake("namespace") { $0.namespace = ".." },
    Mistake("namespace") { $0.namespace = String(repeating: "a", count: 65) },
    Mistake("namespaceBytesMax") { $0.namespaceBytesMax = -1 },
    Mistake("residentBytesMax") { $0.residentBytesMax = -1 }, Mistake("directory") { $0.directory = "" },
    Mistake("directory") { $0.directory = "a\u{0}b" },
  ]

  @Test(arguments: mistakes) func `a setting that makes no sense`(_ mistake: Mistake) throws {
    let folder = try TestFolder()
    var settings = CacheConfiguration()
    settings.directory = folder.path
    mistake.make(&settings)
    let engine = try NetworkEngine(host: "127.0.0.1")
    let error = failure(of: engine, settings)
    #expect(error?.code == .invalidConfiguration && error?.reason == mistake.name)
    #expect(engine.cacheStatistics == nil)
  }

  @Test func `a name of a directory that cannot be one`() throws {
    for name in ["", "..", "a/b", "a b"] {
      var configuration = NetworkEngine.Configuration()
      configuration.storageName = name
      let engine = try NetworkEngine(host: "127.0.0.1", configuration: configuration)
      let error = failure(of: engine, CacheConfiguration())
      #expect(error?.code == .invalidConfiguration && error?.reason == "storageName", "\(name)")
    }
  }

  @Test func `a directory that cannot be used, and then one that can`() throws {
    let folder = try TestFolder()
    let engine = try NetworkEngine(host: "127.0.0.1")
    var settings = CacheConfiguration()
    settings.directory = "/proc/netspool"
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
      var other = CacheConfiguration()
      other.directory = folder.path
      other.defaultPolicy = .noStore
      try engine.useCache(other)
      #expect(await engine.fetch("/a").response?.source == .cache)
      #expect(origin.requestCount == 1)
    }
  }

  @Test func `turned on late, it holds what comes from then on`() async throws {
    let folder = try TestFolder()
    try await withEngine { engine, origin in
      origin.on("/a", .text("a").header("Cache-Control", "max-age=1000"))
      origin.hold("/a")
      let early = engine.start("/a")
      #expect(await origin.waitForWaiting("/a", 1))
      var settings = CacheConfiguration()
      settings.directory = folder.path
      try engine.useCache(settings)
      origin.release("/a")
      #expect(await early.end().response?.source == .network)
      _ = await engine.fetch("/a")
      #expect(await engine.fetch("/a").response?.source == .cache)
    }
    _ = folder
  }

  private func failure(of engine: NetworkEngine, _ settings: CacheConfiguration) -> NetworkError? {
    do throws(NetworkError) {
      try engine.useCache(settings)
      return nil
    } catch { return error }
  }
}
