import Glibc
import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// What becomes of a process that ends, or splits, while requests are under way.
@Suite(.serialized) struct ProcessEndTests {
  /// exit(3) in the middle of handshakes and transfers: each round at another moment.
  @Test(.needsNginx, arguments: 0..<(LongRun.isOn ? 150 : 4))
  func `exits in good order in the middle of handshakes`(round: Int) async throws {
    await #expect(processExitsWith: .exitCode(7)) {
      let server = try NginxServer()
      var configuration = NetworkEngine.Configuration()
      configuration.tls.caFile = server.certificates.authority
      configuration.httpVersion = .http1
      let engine = try NetworkEngine(configuration: configuration)
      for _ in 0..<100 { engine.enqueue(engine.operation(url: server.tlsURL("/8k.bin"))) }
      usleep(UInt32.random(in: 0..<60_000))
      exitMidway(7)
    }
  }

  /// While the loop makes libcurl and its TLS library ready.
  @Test(arguments: 0..<(LongRun.isOn ? 300 : 6))
  func `exits in good order behind the first request`(round: Int) async throws {
    await #expect(processExitsWith: .exitCode(7)) {
      let engine = try NetworkEngine(host: "127.0.0.1")
      engine.enqueue(engine.operation(path: "/"))
      usleep(UInt32.random(in: 0..<6_000))
      exitMidway(7)
    }
  }

  @Test func `a program without standard descriptors works`() async throws {
    await #expect(processExitsWith: .exitCode(7)) {
      for descriptor in Int32(0)...2 { close(descriptor) }
      _ = NetworkQueue.shared
      let origin = try ScriptedOrigin(answering: .text("ok"))
      for _ in 0..<3 {
        let engine = try NetworkEngine(on: NetworkQueue())
        let answer = try engine.wait(for: engine.operation(url: origin.url("/")))
        precondition(answer.text == "ok")
      }
      exit(7)
    }
  }

  @Test(arguments: 0..<(LongRun.isOn ? 300 : 4))
  func `exits in good order with a frozen store just opened`(round: Int) async throws {
    await #expect(processExitsWith: .exitCode(7)) {
      let folder = try TestFolder()
      let engine = try NetworkEngine(host: "127.0.0.1")
      try engine.useFreezing(FreezeConfiguration(directory: folder.path))
      usleep(UInt32.random(in: 0..<3_000))
      exitMidway(7)
    }
  }

  @Test func `a blocked closure holds no exit up`() async throws {
    await #expect(processExitsWith: .exitCode(7)) {
      // What waits for threads would do so for longer
      ExitGate.patience.store(60 * .second, ordering: .relaxed)
      ExitTime.limit(30 * .second)
      let origin = try ScriptedOrigin(answering: .text("ok"))
      let engine = try NetworkEngine(on: .shared) { $0.delivery = .loopThread }
      let isInside = Latch()
      let operation = engine.operation(url: origin.url("/"))
      operation.onCompletion { _ in
        isInside.open()
        while true { sleep(1000) }
      }
      engine.enqueue(operation)
      await isInside.opened()
      ExitTime.begin()
      exitMidway(7)
    }
  }

  @Test func `a thread that waits for the end of another holds no exit up`() async throws {
    await #expect(processExitsWith: .exitCode(7)) {
      // What waits for threads would do so for longer
      ExitGate.patience.store(60 * .second, ordering: .relaxed)
      ExitTime.limit(30 * .second)
      let isJoining = Latch()
      let other = try SystemThread.start(name: "never ends") { SystemSemaphore().wait() }
      _ = try SystemThread.start(name: "joins") {
        isJoining.open()
        other.join()
      }
      await isJoining.opened()
      ExitTime.begin()
      exitMidway(7)
    }
  }

  @Test func `a hung disk under the cache holds no exit up until it goes on`() async throws {
    await #expect(processExitsWith: .exitCode(7)) {
      ExitTime.limit(30_000_000)
      try await withStoppableDisk { engine, origin, disk, other in
        origin.on("/a", .redirect(to: "/b"))
        _ = await engine.redirected(from: "/a", at: origin)
        origin.hold("/a")
        engine.enqueue(engine.operation(path: "/a"))
        _ = await origin.waitForWaiting("/a", 1)
        disk.stop()
        origin.release("/a")
        await disk.isMissed()
        ExitTime.begin()
        exitMidway(7)
      }
    }
  }

  @Test func `a closure on the loop thread may exit`() async throws {
    await #expect(processExitsWith: .exitCode(7)) {
      let origin = try ScriptedOrigin(answering: .text("ok"))
      let engine = try NetworkEngine(on: .shared) { $0.delivery = .loopThread }
      engine.enqueue(engine.operation(url: origin.url("/")).onCompletion { _ in exitMidway(7) })
      sleep(20)
      exit(8)
    }
  }

  @Test func `a child of fork is told that it is one`() async throws {
    await #expect(processExitsWith: .exitCode(7)) {
      let origin = try ScriptedOrigin(answering: .text("ok"))
      let engine = try NetworkEngine()
      let url = origin.url("/")
      let before = try engine.wait(for: engine.operation(url: url))
      // What the child does must not be the first time: Swift's runtime keeps locks that a child of fork never gets when
      // another thread had them. Where it happens all the same, the child is ended, and there is another.
      _ = NetworkQueue.shared.drainAndWait(deadline: .seconds(5))
      let status = forkedInTime {
        let operation = engine.operation(url: url)
        nonisolated(unsafe) var code: NetworkError.Code?
        operation.onError { unsafe code = $0.code }
        engine.enqueue(operation)
        let isTold = unsafe code == .usedAfterFork
        engine.shutDownAndWait()
        let isDrained = NetworkQueue.shared.drainAndWait(deadline: .seconds(5))
        return isTold && !isDrained ? 5 : 6
      }
      precondition(status == 5 << 8, "the child ended with \(status)")
      let after = try engine.wait(for: engine.operation(url: url))
      precondition(before.text == "ok" && after.text == "ok")
      exit(7)
    }
  }

  @Test(.notSanitized(.timeIsNoMeasure))
  func `a child of fork is told for queues and stores of its own as well, and ends at once`() async throws {
    await #expect(processExitsWith: .exitCode(7)) {
      let (origin, folder) = (try ScriptedOrigin(answering: .text("ok")), try TestFolder())
      let url = origin.url("/")
      let engine = try NetworkEngine()
      _ = try engine.wait(for: engine.operation(url: url))
      _ = NetworkQueue.shared.drainAndWait(deadline: .seconds(5))
      let cache = CacheConfiguration.patient(folder.path)
      @Sendable func isTold(_ body: () throws(NetworkError) -> Void) -> Bool {
        do throws(NetworkError) { try body() } catch { return error.code == .usedAfterFork }
        return false
      }
      var (status, took): (Int32, Duration) = (SIGALRM, .seconds(60))
      for _ in 0..<5 where isEndedByAlarm(status) || status == 5 << 8 && took >= .milliseconds(900) {
        usleep(100_000)
        let began = ContinuousClock.now
        status = forked {
          var configuration = NetworkEngine.Configuration()
          guard let queue = try? NetworkQueue() else { return 1 }
          configuration.queue = queue
          guard let own = try? NetworkEngine(configuration: configuration) else { return 2 }
          nonisolated(unsafe) var code: NetworkError.Code?
          own.enqueue(own.operation(url: url).onError { unsafe code = $0.code })
          guard unsafe code == .usedAfterFork else { return 3 }
          let areTold =
            isTold { () throws(NetworkError) in try own.useCache(cache) }
            && isTold { () throws(NetworkError) in try own.useFreezing() }
          exit(areTold ? 5 : 4)
        }
        took = min(took, ContinuousClock.now - began)
      }
      precondition(status == 5 << 8, "the child ended with \(status)")
      // No thread of ours is there to be waited for: that would take a second each time.
      precondition(took < .milliseconds(900), "\(took)")
      exit(7)
    }
  }

  /// A sanitizer's own threads and locks make each fork take as long as a hundred.
  @Test(.notSanitized(.timeIsNoMeasure))
  func `children of a busy parent are told so, too`() async throws {
    await #expect(processExitsWith: .exitCode(7)) {
      let (origin, folder) = (try ScriptedOrigin(answering: .text("ok")), try TestFolder())
      origin.on("/held", .text("held").header("Cache-Control", "max-age=600"))
      let engine = try NetworkEngine()
      try engine.useCache(.patient(folder.path))
      let urls = [origin.url("/held"), origin.url("/")]
      _ = try engine.wait(for: engine.operation(url: urls[0]))
      // Given threads that are in the middle of everything
      let isOver = Flag()
      for number in 0..<4 {
        try SystemThread.start(name: "load") {
          while !isOver.isSet {
            _ = try? engine.wait(for: engine.operation(url: urls[number % 2]))
            _ = (engine.budgets, engine.configuration.queue.budgets, engine.cacheStatistics)
          }
        }.detach()
      }
      // When it forks again and again
      var (told, hung) = (0, 0)
      for _ in 0..<200 {
        let status = forked(atMost: 5) {
          let operation = engine.operation(url: urls[0])
          nonisolated(unsafe) var code: NetworkError.Code?
          operation.onError { unsafe code = $0.code }
          engine.enqueue(operation)
          _ = (engine.budgets, engine.configuration.queue.budgets, engine.cacheStatistics)
          engine.emptyCache()
          return unsafe code == .usedAfterFork ? 5 : 6
        }
        if status == 5 << 8 { told += 1 }
        if isEndedByAlarm(status) { hung += 1 }
      }
      isOver.set()
      // Then each child is told at once; but for a lock of Swift's own runtime now and then.
      precondition(told + hung == 200 && hung <= 2, "\(told) were told, \(hung) hung")
      exit(7)
    }
  }
}

/// How long the exit takes. Only the thread that exits looks.
private enum ExitTime {
  nonisolated(unsafe) private static var began: Microseconds = 0
  nonisolated(unsafe) private static var most: Microseconds = 0

  /// Registered before all of ours, so it runs last.
  static func limit(_ time: Microseconds) {
    unsafe most = time
    atexit { if unsafe MonotonicClock.now - ExitTime.began > ExitTime.most { _exit(9) } }
  }

  /// Registered last, so it runs first.
  static func begin() { atexit { unsafe ExitTime.began = MonotonicClock.now } }
}
