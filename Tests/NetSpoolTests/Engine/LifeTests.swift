import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Who keeps whom alive.
struct LifeTests {
  @Test func `letting go of the engine and its queue cancels nothing`() async throws {
    let origin = try ScriptedOrigin(answering: .text("ok"))
    origin.hold("/0")
    let tally = Tally()
    weak var engine: NetworkEngine?
    do {
      var settings = NetworkQueue.Configuration()
      settings.sizing = .fixed(4)
      let made = try NetworkEngine(to: origin, on: NetworkQueue(configuration: settings))
      engine = made
      for number in 0..<1000 { tally.start(made.operation(path: "/\(number)")) }
    }
    #expect(await origin.waitForWaiting("/0", 1))
    // What is under way keeps its engine.
    #expect(engine != nil)
    origin.release("/0")
    await tally.wait(for: 1000)
    #expect(tally.count("completed") == 1000)
    // The last closure has run, and is about to be released.
    #expect(await until { engine == nil })
  }

  @Test func `a queue's thread ends with the queue, and no descriptor or thread is left`() async throws {
    await #expect(processExitsWith: .success) {
      let origin = try ScriptedOrigin(answering: .text("ok"))
      func use() async throws {
        let engine = try NetworkEngine(to: origin, on: NetworkQueue())
        for _ in 0..<3 {
          let operation = engine.operation(path: "/a").addDownloadStream(
            FileDownloadStream(path: "/dev/null"))
          _ = await engine.end(of: operation)
        }
      }
      try await use()
      guard await origin.waitForOpenConnections(0) else { preconditionFailure("a connection is left") }
      await moment()  // Dispatch has its descriptors for timers from now on.
      let before = ProcessUse.now
      for _ in 0..<20 { try await use() }
      guard await origin.waitForOpenConnections(0) else { preconditionFailure("a connection is left") }
      // Threads end a moment after their last socket.
      let isBack = await ProcessUse.becomes { $0.descriptors <= before.descriptors && $0.loopThreads == 0 }
      precondition(isBack, "before \(before), after \(ProcessUse.now)")
    }
  }

  @Test func `a caching engine that is gone leaves no descriptor to a queue that goes on`() async throws {
    let folder = try TestFolder()
    await #expect(processExitsWith: .success) { [path = folder["cache"] as String] in
      let origin = try ScriptedOrigin(answering: .text("ok").header("Cache-Control", "no-cache"))
      let queue = try NetworkQueue()
      func use() async throws {
        let engine = try NetworkEngine(to: origin, on: queue)
        try engine.useCache(.patient(path))
        _ = await engine.get("/a").end()
      }
      try await use()
      let before = ProcessUse.now
      for _ in 0..<20 { try await use() }
      let isBack = await ProcessUse.becomes { $0.descriptors <= before.descriptors }
      precondition(isBack, "before \(before), after \(ProcessUse.now)")
    }
  }

  @Test(arguments: [1, 4])
  func `several threads may close a queue at once, and each returns when it has ended`(loops: Int) async {
    await #expect(processExitsWith: .success) { [loops = loops as Int] in
      let origin = try ScriptedOrigin(answering: .text("ok"))
      for _ in 0..<20 {
        var settings = NetworkQueue.Configuration()
        settings.loops = .fixed(loops)
        let queue = try NetworkQueue(configuration: settings)
        _ = try await NetworkEngine(to: origin, on: queue).get("/a").end()
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<8 {
            group.addTask {
              await blocking {
                queue.close()
                precondition(
                  queue.driver.loops.allSatisfy { loop in
                    !queue.driver.port(of: loop).perform { _ in }
                  }, "a loop is at work")
              }
            }
          }
        }
      }
    }
  }

  @Test func `operations die with their last reference`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .text("ok"))
      weak var weakSentinel: Sentinel?
      do {
        let sentinel = Sentinel()
        weakSentinel = sentinel
        let operation = engine.operation(path: "/a").onCompletion { _ in withExtendedLifetime(sentinel) {} }
        operation.onStateChange { _ in withExtendedLifetime((sentinel, operation)) {} }
        operation.addDownloadStream(
          ClosureDownloadStream { _ in
            withExtendedLifetime((sentinel, operation)) {}
            return .accepted
          })
        _ = await engine.end(of: operation)
      }
      #expect(engine.configuration.queue.drainAndWait(deadline: .seconds(60)))
      #expect(weakSentinel == nil)
    }
  }

  private final class Sentinel: Sendable {}
}
