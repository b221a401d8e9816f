import Glibc
import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// What was told to be there is stored, however the engine and its process end.
@Suite(.serialized, .ownThreads) struct CacheExitTests {
  static let count = 300
  private let origin: ScriptedOrigin
  private let folder: TestFolder

  init() throws {
    (origin, folder) = (try ScriptedOrigin(), try TestFolder())
    origin.fallback(Answer.pattern(2_000).header("Cache-Control", "max-age=1000"))
  }

  static func makeEngine(_ folder: String) throws -> NetworkEngine {
    let engine = try NetworkEngine()
    try engine.useCache(.patient(folder))
    return engine
  }

  static func fetchAll(_ engine: NetworkEngine, _ url: String) throws {
    for number in 0..<count { _ = try engine.wait(for: engine.operation(url: url + String(number))) }
  }

  /// How many of all are stored, as another process sees it.
  private func stored() throws -> Int {
    let engine = try Self.makeEngine(folder.path)
    return (0..<Self.count).count { number in
      let operation = engine.operation(url: origin.url("/\(number)"))
      operation.cachePolicy = .onlyIfCached
      return (try? engine.wait(for: operation)) != nil
    }
  }

  @Test func `after a shut down all that was answered is on the disk`() async throws {
    let (url, path) = (origin.url("/"), folder.path)
    await #expect(processExitsWith: .exitCode(7)) { [url = url as String, path = path as String] in
      let engine = try CacheExitTests.makeEngine(path)
      try CacheExitTests.fetchAll(engine, url)
      engine.shutDownAndWait()
      _exit(7)
    }
    #expect(try stored() == Self.count)
  }

  @Test func `what was answered is stored when the process exits with its engine`() async throws {
    let (url, path) = (origin.url("/"), folder.path)
    await #expect(processExitsWith: .exitCode(7)) { [url = url as String, path = path as String] in
      try CacheExitTests.fetchAll(try CacheExitTests.makeEngine(path), url)
      ExitGate.patience.store(60 * .second, ordering: .relaxed)
      exit(7)
    }
    #expect(try stored() == Self.count)
  }

  @Test
  func `what was answered is stored when the process exits while operations hold its engine`() async throws {
    let (url, path) = (origin.url("/"), folder.path)
    await #expect(processExitsWith: .exitCode(7)) { [url = url as String, path = path as String] in
      let isOver = Latch()
      var engine: NetworkEngine? = try CacheExitTests.makeEngine(path)
      let last = engine!.operation(url: url + "0")
      try CacheExitTests.fetchAll(engine!, url)
      last.onCompletion { [engine] _ in
        _ = engine
        isOver.open()
      }
      engine!.enqueue(last)
      engine = nil
      await isOver.opened()
      ExitGate.patience.store(60 * .second, ordering: .relaxed)
      exit(7)
    }
    #expect(try stored() == Self.count)
  }
}
