import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// A disk that a test stops once: whoever reads from it waits until it goes on, or the test has failed anyway.
final class StoppedDisk: Sendable {
  private let hung = Mutex<(latch: Latch, readsBefore: Int)?>(nil)
  private let missed = Latch()

  /// To be called before each read.
  func pass() {
    let latch: Latch? = hung.withLock { hung in
      guard let (latch, reads) = hung else { return nil }
      hung?.readsBefore -= 1
      return reads > 0 ? nil : latch
    }
    guard let latch else { return }
    missed.open()
    latch.block()
  }

  /// Goes on by itself after five minutes, so that a loop that waits for it ends its test, which sees that it was not
  /// stopped to the end. So many reads come through before.
  func stop(after count: Int = 0) {
    hung.withLock { $0 = (Latch(), count) }
    Task {
      try? await Task.sleep(for: .seconds(300).patient)
      goOn()
      missed.open()
    }
  }

  func goOn() { hung.withLock { $0.take() }?.latch.open() }

  /// It is stopped still: what has ended meanwhile did not wait for it.
  var isStopped: Bool { hung.withLock { $0 != nil } }

  /// Somebody waits for it, or has; it may still have to be stopped.
  func isMissed() async { await missed.opened() }
}

/// An engine whose cache lies on a disk that can be stopped, its origin, and another engine of the same queue.
func withStoppableDisk(
  patience: Microseconds = 1_000_000,
  _ body: (NetworkEngine, ScriptedOrigin, StoppedDisk, NetworkEngine) async throws -> Void
) async throws {
  let (folder, disk) = (try TestFolder(), StoppedDisk())
  // Whoever opens it first says how.
  let store = try folder.open { settings in
    settings.onDisk = { disk.pass() }
    settings.match = EngineCache.match
    settings.lookPatience = patience
  }
  try await withEngine { engine, origin in
    try engine.useCache(.init(directory: folder.path))
    origin.on("/other", .text("other"))
    let other = try NetworkEngine(to: origin, on: engine.configuration.queue) { $0.delivery = .loopThread }
    #expect(await other.fetch("/other").text == "other")
    try await body(engine, origin, disk, other)
    disk.goOn()
  }
  store.close()
}

/// Others are answered as ever, while the disk is stopped.
func goesOn(
  _ other: NetworkEngine, beside disk: StoppedDisk? = nil, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  for _ in 0..<20 { try await other.expectStart("/other", sourceLocation: sourceLocation) }
  if let disk { #expect(disk.isStopped, sourceLocation: sourceLocation) }
}

func cacheable(_ text: String) -> Answer { .text(text).header("Cache-Control", "max-age=1000") }

extension NetworkEngine {
  /// Asks for a path that redirects, and does something when the redirect is about to come.
  func redirected(from path: String, at origin: ScriptedOrigin, _ then: () -> Void = {}) async
    -> Ending
  {
    origin.hold(path)
    let operation = operation(path: path)
    await blocking { self.enqueue(operation) }
    _ = await origin.waitForWaiting(path, 1)
    then()
    origin.release(path)
    return await operation.end()
  }

  /// Whoever looks for the loop does so.
  var looksAgain: Bool { cache?.store.core.looker.isStuck == false }

  /// The same cache for another engine.
  var sharedCache: CacheConfiguration { .patient(cache?.store.settings.directory ?? "") }
}
