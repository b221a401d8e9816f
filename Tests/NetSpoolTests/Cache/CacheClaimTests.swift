import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Processes that share a store, and ask the origin once. A second queue has claims of its own, like another process.
@Suite(.threadForEach) struct CacheClaimTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  @Test func `processes ask for each of many URLs once`() async throws {
    let (processes, count) = LongRun.isOn ? (8, 2_000) : (4, 100)
    let (path, origin) = (folder.path, try ScriptedOrigin())
    let paths = (0..<count).map { "/\($0)" }
    origin.fallback { cacheable("text of \($0.path)") }
    await Self.inProcesses(processes, path, origin.port, paths)
    #expect(
      paths.allSatisfy { origin.hits($0) == 1 }, "\(paths.map { origin.hits($0) }.reduce(0, +)) requests")
  }

  @Test(arguments: [SIGKILL, SIGSTOP])
  func `a process that is dead or stopped holds others up for as long as its claim is good`(signal: Int32)
    async throws
  {
    let (path, origin) = (folder.path, try ScriptedOrigin())
    let engine = try Self.engine(path, origin.port, silenceMax: 3_000_000)
    // Given a process that asks, and another that waits for it
    origin.on("/a", .raw([.text("HTTP/1.1 200 OK\r\n"), .gate("never")]))
    async let child = #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, port = origin.port as Int] in
      let engine = try CacheClaimTests.engine(path, port, silenceMax: 3_000_000)
      _ = await engine.fetch("/a", headers: ["X-Process": "\(getpid())"])
    }
    #expect(await origin.waitForWaiting("never", 1))
    let process = try #require(
      await origin.takeRequest().flatMap { $0.header("X-Process") }.flatMap { pid_t($0) })
    let (waiting, limit) = (engine.operation(path: "/a"), LoopLimit(.seconds(6)))
    waiting.onStateChange { if $0 == .executing { limit.keep() } }
    engine.enqueue(waiting)
    try await Task.sleep(for: .milliseconds(3_500))
    #expect(origin.hits("/a") == 1)
    // When it is killed or stopped
    origin.on("/a", cacheable("mine"))
    kill(process, signal)
    limit.begin(for: waiting)
    let ending = await waiting.end()
    // Then the other asks
    #expect(limit.isKept)
    #expect(ending.text == "mine" && origin.hits("/a") == 2)
    kill(process, SIGKILL)
    _ = await child
  }

  @Test func `an answer that may not be stored frees all that wait at its head, and for a while none waits`()
    async throws
  {
    try await withTwoQueues { first, second, origin in
      // Given an answer with `no-store`, whose body is not there yet
      let head = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 5\r\n\r\n"
      let asking = await first.held("/a", .raw([.text(head), .gate("body"), .text("alone")]), at: origin)
      let waiting = (0..<3).map { _ in second.start("/a") }
      await second.settle()
      #expect(origin.hits("/a") == 1)
      // When its head comes, then the others ask, and so does who comes later
      origin.release("/a")
      #expect(await origin.waitForWaiting("body", 2))
      let later = first.start("/a")
      #expect(await origin.waitForWaiting("body", 3))
      origin.release("body")
      for operation in waiting + [asking, later] { #expect(await operation.end().text == "alone") }
    }
  }

  @Test func `a wait for another process keeps limits of its own, can be cancelled, and can be paused`()
    async throws
  {
    try await withTwoQueues { first, second, origin in
      let asking = await first.held("/a", cacheable("late"), at: origin)
      // When others want the same from another queue
      let cancelled = second.start("/a")
      let patient = second.start("/a")
      let hasty = second.operation(path: "/a")
      hasty.timeouts = .total(.milliseconds(100))
      #expect(await second.end(of: hasty).code == .timedOut)
      cancelled.cancel()
      #expect(await cancelled.end().code == .cancelled)
      let paused = second.start("/a")
      paused.pause()
      await second.settle()
      origin.release("/a")
      #expect(await asking.end().text == "late")
      #expect(await patient.end().text == "late")
      paused.resume()
      #expect(await paused.end().text == "late")
      #expect(origin.hits("/a") == 1)
    }
  }

  @Test func `a request that is paused or cancelled frees the others`() async throws {
    try await withTwoQueues { first, second, origin in
      for end in [{ $0.pause() }, { $0.cancel() }] as [(NetworkOperation) -> Void] {
        let path = "/\(origin.requestCount)"
        let asking = await first.held(path, cacheable("late"), at: origin)
        let other = second.start(path)
        await second.settle()
        end(asking)
        #expect(await origin.waitForHits(path, 2))
        origin.release(path)
        #expect(await other.end().text == "late")
        asking.cancel()
        _ = await asking.end()
      }
    }
  }

  @Test func `a reader that takes nothing holds up no other`() async throws {
    try await withTwoQueues { first, second, origin in
      // Given a stream that is full, of an answer that will be stored
      let bytes = pattern(1, count: 900_000)
      origin.on("/a", .bytes(bytes).header("Cache-Control", "max-age=1000"))
      let pipe = try ReaderPipe()
      let slow = first.operation(path: "/a").addDownloadStream(
        DescriptorDownloadStream(pipe.writerNumber, digests: false))
      first.enqueue(slow)
      #expect(await origin.waitForHits("/a", 1))
      // Then others have it all the same
      #expect(await second.fetch("/a").response?.body.count == bytes.count)
      #expect(slow.state != .finished && origin.hits("/a") == 2)
      slow.cancel()
      _ = await slow.end()
      pipe.release()
      pipe.closeWriter()
      _ = pipe.digest()
    }
  }

  @Test func `a store that cannot be written holds up no request`() async throws {
    try await withTwoQueues(slack: 1) { first, second, origin in
      let asking = await first.held("/a", cacheable("late"), at: origin)
      let waiting = second.start("/a")
      await second.settle()
      // When a process has the lock of the writer, and is stopped
      let lock = try FileDescriptor(opening: folder["writer"], flags: O_RDWR)
      #expect(flock(lock.rawValue, LOCK_EX) == 0)
      origin.release("/a")
      #expect(await asking.end().text == "late")
      #expect(await waiting.end().text == "late")
      #expect(flock(lock.rawValue, LOCK_UN) == 0)
    }
  }

  @Test func `a failure is each request's own, and all that waited ask without waiting again`() async throws {
    try await withTwoQueues { first, second, origin in
      origin.on("/a", .raw([.gate("a"), .close]))
      let asking = first.operation(path: "/a")
      asking.retry = .none
      first.enqueue(asking)
      #expect(await origin.waitForWaiting("a", 1))
      let waiting = second.start("/a")
      await second.settle()
      origin.on("/a", cacheable("better"))
      origin.release("a")
      #expect(await asking.end().error != nil)
      #expect(await waiting.end().text == "better")
    }
  }

  @Test(arguments: [false, true])
  func `a stored redirect is asked for once, and so is where it leads`(varies: Bool) async throws {
    try await withTwoQueues { first, second, origin in
      origin.hold("/to", cacheable("there"))
      var moved = Answer(status: 301).header("Location", "/to").header("Cache-Control", "max-age=100")
      if varies { moved = moved.header("Vary", "Accept-Encoding") }
      let asking = await first.held("/from", moved, at: origin)
      let waiting = second.start("/from")
      await second.settle()
      origin.release("/from")
      #expect(await origin.waitForWaiting("/to", 1))
      // What is stored of it does not wait for the end of the first
      let plain = second.operation(path: "/from")
      plain.redirects = .none
      #expect(await second.end(of: plain).response?.source == .cache)
      origin.release("/to")
      #expect(await asking.end().text == "there")
      #expect(await waiting.end().text == "there")
      #expect(origin.hits("/from") == 1 && origin.hits("/to") == 1)
    }
  }

  @Test func `an engine that does not want it asks at once`() async throws {
    let origin = try ScriptedOrigin()
    let first = try Self.engine(folder.path, origin.port)
    let others = [
      try Self.engine(folder.path, origin.port, coalesces: false), try Self.engine(folder.path, origin.port),
    ]
    let asking = await first.held("/a", cacheable("late"), at: origin)
    let operations = others.map { $0.operation(path: "/a") }
    operations[1].configure { $0.coalesces = false }
    for (engine, operation) in zip(others, operations) { engine.enqueue(operation) }
    #expect(await origin.waitForWaiting("/a", 3))
    origin.release("/a")
    for operation in operations + [asking] { #expect(await operation.end().text == "late") }
  }

  // MARK: Processes

  /// Each asks for all paths, in an order of its own.
  private static func inProcesses(_ count: Int, _ path: String, _ port: Int, _ paths: [String]) async {
    let list = paths.joined(separator: " ")
    await withDiscardingTaskGroup { group in
      for _ in 0..<count {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, port = port as Int, list = list as String] in
            let engine = try CacheClaimTests.engine(path, port)
            let operations = list.split(separator: " ").shuffled().map { engine.operation(path: String($0)) }
            for operation in operations { engine.enqueue(operation) }
            for operation in operations {
              let text = await operation.end().text ?? "nothing"
              let name = operation.request.url.split(separator: "/").last ?? ""
              precondition(text == "text of /\(name)", "\(text)")
            }
            engine.flushCache()
          }
        }
      }
    }
  }

  private func withTwoQueues(
    slack: Int = 60, _ body: (NetworkEngine, NetworkEngine, ScriptedOrigin) async throws -> Void
  ) async throws {
    let (path, origin) = (folder.path, try ScriptedOrigin())
    try await body(
      Self.engine(path, origin.port, slack: slack), Self.engine(path, origin.port, slack: slack), origin)
  }

  /// With a queue of its own, and a store that waits long for a process that is only slow.
  static func engine(
    _ path: String, _ port: Int, silenceMax: Microseconds = 60_000_000, slack: Int = 60,
    coalesces: Bool = true
  ) throws -> NetworkEngine {
    var settings = CacheStoreSettings(directory: path)
    settings.claimSilenceMax = silenceMax
    settings.lookPatience = 60_000_000
    settings.slack = slack
    settings.match = EngineCache.match
    let store = try CacheStore.open(settings)
    let engine = try NetworkEngine(host: "127.0.0.1", on: NetworkQueue()) {
      ($0.scheme, $0.port, $0.delivery) = (.http, port, .loopThread)
    }
    var cache = CacheConfiguration.patient(path)
    cache.coalescesAcrossProcesses = coalesces
    try engine.useCache(cache)
    withExtendedLifetime(store) {}
    return engine
  }
}
