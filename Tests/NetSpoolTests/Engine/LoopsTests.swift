import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// Queues with several loops: each origin is on one of them, and all promises are the queue's.
struct LoopsTests {
  // MARK: Settings

  @Test(arguments: [0, -1, 65, .max]) func `a number that makes no sense is refused`(count: Int) throws {
    var settings = NetworkQueue.Configuration()
    settings.loops = .fixed(count)
    let error = #expect(throws: NetworkError.self) { try NetworkQueue(configuration: settings) }
    #expect(error?.code == .invalidConfiguration && error?.reason == "loops")
  }

  @Test func `what a queue was made with counts`() async throws {
    #expect((1...8).contains(NetworkQueue.Loops.automatic.count(descriptors: .max)))
    try await withQueue({ $0.loops = .fixed(2) }) { queue in
      #expect(queue.driver.loops.count == 2 && queue.configuration.loops == .fixed(2))
      let error = #expect(throws: NetworkError.self) { try queue.configure { $0.loops = .fixed(3) } }
      #expect(error?.code == .invalidConfiguration && error?.reason == "loops")
      #expect(queue.configuration.loops == .fixed(2))
      try queue.configure { $0.maximumConcurrent = 3 }
      #expect(queue.maximumConcurrent == 3)
    }
  }

  // MARK: Where origins are

  @Test func `an origin is always on the same loop, however it is spelled`() async throws {
    try await withQueue({ $0.loops = .fixed(4) }) { queue in
      let engine = try NetworkEngine(on: queue)
      let spellings = [
        "http://a.example/", "HTTP://A.Example:80/x?y", "http://a.example:80#z", "http://a.example",
      ]
      #expect(Set(spellings.map { queue.driver.number(for: $0, of: engine) }).count == 1)
      let many = (0..<100).map { queue.driver.number(for: "http://h\($0).example/", of: engine) }
      #expect(Set(many) == [0, 1, 2, 3])
    }
  }

  @Test func `an engine with cookies is where its host is, whatever it asks`() async throws {
    try await withQueue({ $0.loops = .fixed(4) }) { queue in
      let plain = try NetworkEngine(on: queue)
      for host in ["a.example", "b.example", "c.example", "d.example", "e.example"] {
        let engine = try NetworkEngine(host: host, on: queue) { $0.cookies = .inMemory }
        let home = queue.driver.number(for: "https://\(host)/", of: plain)
        for url in ["https://\(host)/x", "http://other.example/"] {
          #expect(queue.driver.number(for: url, of: engine) == home)
        }
      }
    }
  }

  /// Each has memory for its beginning when the last of them comes, and all of that is one loop's.
  @Test func `bodies that go to streams are stored, whatever the number of loops`() async throws {
    let folder = try TestFolder(in: TestFiles.fast)
    try await withQueue({ ($0.loops, $0.sizing) = (.fixed(8), .fixed(32)) }) { queue in
      let engine = try NetworkEngine(on: queue)
      try engine.useCache(.patient(folder.path))
      let origin = try ScriptedOrigin()
      let body = Answer.pattern(400_000).header("Cache-Control", "max-age=60")
      origin.fallback(body.fault(.gate("middle"), at: .body(300_000)))
      let operations = (0..<12).map { number in
        engine.operation(url: origin.url("/\(number)")).addDownloadStream(
          ClosureDownloadStream { _ in .accepted })
      }
      engine.enqueue(operations)
      #expect(await origin.waitForWaiting("middle", 12))
      origin.releaseAll()
      for operation in operations { #expect(await operation.end().response?.status == 200) }
      for number in 0..<12 {
        let again = engine.operation(url: origin.url("/\(number)"))
        again.cachePolicy = .onlyIfCached
        #expect(await engine.end(of: again).response?.body.count == 400_000)
      }
    }
  }

  @Test func `an unsafe request that was redirected outdates what another loop has asked for`() async throws {
    try await withTwoLoops { engine, here, there in
      here.on("/a", .redirect(to: there.url("/b"), status: 307))
      there.on("/b", method: "GET", .text("what is there").fault(.gate("head"), at: .head(0)))
      there.on("/b", method: "DELETE", .text("gone"))
      let before = engine.start(engine.operation(url: there.url("/b")))
      #expect(await there.waitForWaiting("head", 1))
      #expect(await engine.end(of: engine.operation(url: here.url("/a"), method: .delete)).text == "gone")
      let behind = engine.start(engine.operation(url: there.url("/b")))
      #expect(await there.waitForWaiting("head", 2))
      there.releaseAll()
      for operation in [before, behind] { #expect(await operation.end().text == "what is there") }
    }
  }

  @Test func `a snapshot has each origin once, also where redirects have led two loops to it`() async throws {
    try await withTwoLoops({
      ($0.sizing, $0.maximumPerOrigin) = (.fixed(.max), .max)
    }) { engine, here, there in
      here.on("/a", .redirect(to: there.url("/b")))
      there.on("/b", .text("there"))
      let asked = [engine.operation(url: here.url("/a")), engine.operation(url: there.url("/b"))]
      for operation in asked { #expect(await engine.end(of: operation).text == "there") }
      let origins = await engine.configuration.queue.snapshot.origins
      let ports = Set(origins.map { $0.origin.split(separator: ":").last.map(String.init) })
      #expect(origins.count == 2 && ports == ["\(here.port)", "\(there.port)"])
      let both = origins.first { $0.origin.hasSuffix("\(there.port)") }
      #expect(both?.connections == 2 && both?.width == Int.max)
    }
  }

  // MARK: Redirects to an origin of another loop

  @Test func `a redirect brings the answer, a body, and streams along`() async throws {
    try await withTwoLoops { engine, here, there in
      here.on("/a", .redirect(to: there.url("/b"), status: 307))
      there.on("/b", .text("there"))
      let answer = await engine.end(of: engine.operation(url: here.url("/a")))
      #expect(answer.text == "there" && answer.response?.metrics.redirects == 1)
      #expect(answer.response?.finalURL == there.url("/b"))
      let post = engine.operation(url: here.url("/a"), method: .post)
      post.setBody(.bytes(Array("body".utf8), contentType: "text/x-test"))
      #expect(await engine.end(of: post).text == "there")
      #expect(there.requests.last?.text == "body")
      let stream = MemoryDownloadStream()
      let streamed = engine.operation(url: here.url("/a")).addDownloadStream(stream)
      #expect(await engine.end(of: streamed).response?.streams.count == 1)
      #expect(stream.isWhole && stream.bytes == Array("there".utf8))
      var read: [UInt8] = []
      let response: NetworkStreamedResponse = try await engine.stream(NetworkRequest(url: here.url("/a")))
      for try await piece in response.body { read += piece.array }
      #expect(read == Array("there".utf8))
    }
  }

  @Test(arguments: [true, false])
  func `an origin that asks for quiet has it from redirects of all loops`(isKnown: Bool) async throws {
    try await withTwoLoops({ $0.sizing = .adaptive }) { engine, here, there in
      here.on(prefix: "/a", .redirect(to: there.url("/b")))
      there.on("/b", .text("there"))
      there.on("/busy", .status(429).header("Retry-After", "30"))
      if isKnown { #expect(await engine.end(of: engine.operation(url: here.url("/a"))).text == "there") }
      #expect(await engine.end(of: engine.operation(url: there.url("/busy"))).code == .status)
      let count = there.requestCount
      let led = engine.start(engine.operation(url: here.url("/a2")))
      let queue = engine.configuration.queue
      #expect(
        await until { queue.activity.queued == 1 && here.hits("/a2") == 1 || there.requestCount > count })
      await engine.settle()
      #expect(there.requestCount == count)
      led.cancel()
      #expect(await led.end().code == .cancelled)
    }
  }

  @Test func `requests that share it share its redirect`() async throws {
    try await withTwoLoops { engine, here, there in
      here.on("/a", .redirect(to: there.url("/b")))
      there.on("/b", .text("once"))
      here.hold("/a")
      there.hold("/b")
      let equal = engine.start((0..<4).map { _ in engine.operation(url: here.url("/a")) })
      #expect(await here.waitForWaiting("/a", 1))
      here.release("/a")
      #expect(await there.waitForWaiting("/b", 1))
      // One that comes when it has gone on finds it.
      let late = engine.start(engine.operation(url: here.url("/a")))
      for _ in 1...3 { await engine.settle() }
      // One of those who only wait, and the one whose exchange it is.
      equal[1].cancel()
      equal[0].cancel()
      #expect(await equal[1].end().code == .cancelled)
      #expect(await equal[0].end().code == .cancelled)
      there.release("/b")
      for operation in equal[2...] { #expect(await operation.end().text == "once") }
      #expect(await late.end().text == "once")
      #expect(here.hits("/a") == 1 && there.hits("/b") == 1)
    }
  }

  @Test func `it is paused, goes on and is cancelled behind its redirect`() async throws {
    try await withTwoLoops { engine, here, there in
      here.on(prefix: "/a", .redirect(to: there.url("/b")))
      there.hold("/b", .text("there"))
      let operation = engine.start(engine.operation(url: here.url("/a")))
      #expect(await there.waitForWaiting("/b", 1))
      operation.pause()
      await engine.settle()
      #expect(operation.state == .paused)
      operation.resume()
      let other = engine.start(engine.operation(url: here.url("/a2")))
      #expect(await there.waitForWaiting("/b", 2))
      other.cancel()
      #expect(await other.end().code == .cancelled)
      there.release("/b")
      #expect(await operation.end().text == "there")
    }
  }

  @Test func `its total goes on counting`() async throws {
    try await withTwoLoops { engine, here, there in
      here.on("/a", .redirect(to: there.url("/b")))
      there.hold("/b", .text("late"))
      let operation = engine.operation(url: here.url("/a"))
      operation.timeouts = .total(.milliseconds(300))
      let ending = await engine.end(of: operation)
      #expect(ending.code == .timedOut && ending.error?.cause == .total)
      there.releaseAll()
    }
  }

  @Test func `others wait for its end on whatever loop`() async throws {
    try await withTwoLoops { engine, here, there in
      here.fallback(.text("first"))
      there.fallback(.text("second"))
      here.hold("/1")
      let first = engine.operation(url: here.url("/1"))
      let second = engine.start(engine.operation(url: there.url("/2")).addDependency(first))
      engine.enqueue(first)
      #expect(await here.waitForWaiting("/1", 1))
      await engine.settle()
      #expect(there.requestCount == 0)
      here.release("/1")
      #expect(await second.end().text == "second")
    }
  }

  // MARK: The queue's width

  /// Their answers have begun, so that nobody may say that their origins are silent.
  @Test func `all loops together keep to the width, and one that has no place gets the next`() async throws {
    try await withTwoLoops({ $0.maximumConcurrent = 5 }) { engine, here, there in
      // However slow the machine is
      engine.driver.eachLoop { $0.seats.silence = .max }
      for origin in [here, there] {
        origin.fallback(.pattern(2_000).fault(.gate("middle"), at: .body(1_000)))
      }
      let tally = Tally()
      func enqueue(_ count: Int, at origin: ScriptedOrigin) {
        for number in 0..<count { tally.start(engine.operation(url: origin.url("/?n=\(number)"))) }
      }
      func are(_ count: Int, _ otherCount: Int) async {
        #expect(await here.waitForWaiting("middle", count))
        #expect(await there.waitForWaiting("middle", otherCount))
        // Both loops have done what they were told to, and what follows from it
        for _ in 1...2 { _ = await engine.configuration.queue.snapshot }
        #expect(await until { engine.configuration.queue.budgets.places.held == count + otherCount })
      }
      enqueue(20, at: here)
      await are(5, 0)
      enqueue(20, at: there)
      await are(5, 0)
      // However many wait here.
      here.release("middle", count: 1)
      await are(4, 1)
      #expect(here.requestCount == 5)
      there.release("middle", count: 1)
      #expect(await until { there.requestCount == 2 })
      await are(4, 1)
      // Fewer: those that end make no room until there are so few.
      engine.configuration.queue.maximumConcurrent = 3
      here.release("middle", count: 2)
      await are(2, 1)
      #expect(here.requestCount == 5 && there.requestCount == 2)
      engine.configuration.queue.maximumConcurrent = 7
      while here.waitingCount("middle") + there.waitingCount("middle") < 7 { await moment() }
      here.releaseAll()
      there.releaseAll()
      await tally.wait(for: 40)
      #expect(tally.count("completed") == 40 && tally.isOneEach)
    }
  }

  @Test func `a place that has gone from loop to loop counts once`() async throws {
    try await withTwoLoops({ $0.maximumConcurrent = 1 }) { engine, here, there in
      // However slow the machine is
      engine.driver.eachLoop { $0.seats.silence = .max }
      here.hold("/1", .text("ok"))
      let operation = engine.start(engine.operation(url: here.url("/1")))
      #expect(await here.waitForWaiting("/1", 1))
      await engine.settle()
      // As it was told of before it was given away
      let other = engine.driver.number(for: there.url("/"), of: engine)
      engine.driver.loops[other].running.store(1, ordering: .relaxed)
      #expect(engine.configuration.queue.activity.running == 1)
      #expect(engine.configuration.queue.budgets.places.held == 1)
      here.release("/1")
      #expect(await operation.end().text == "ok")
    }
  }

  @Test func `nothing begins on any loop while the queue is suspended`() async throws {
    try await withTwoLoops { engine, here, there in
      here.fallback(.text("ok"))
      there.fallback(.text("ok"))
      let queue = engine.configuration.queue
      _ = await engine.end(of: engine.operation(url: here.url("/1")))
      _ = await engine.end(of: engine.operation(url: there.url("/1")))
      queue.isSuspended = true
      let held = [here, there].map { engine.start(engine.operation(url: $0.url("/2"))) }
      await engine.settle()
      #expect(here.hits("/2") + there.hits("/2") == 0 && queue.activity.queued == 2)
      queue.isSuspended = false
      for operation in held { #expect(await operation.end().text == "ok") }
    }
  }

  // MARK: All at once

  /// Chains of redirects over many origins, and everybody interferes.
  @Test(arguments: 1...(LongRun.isOn ? 200 : 4))
  func `each has one ending, whatever happens on its way`(seed: Int) async throws {
    try await withQueue({ ($0.loops, $0.maximumConcurrent) = (.fixed(4), 5) }) { queue in
      let origins = try (0..<30).map { _ in try ScriptedOrigin() }
      let urls = origins.map { $0.url("/to/") }
      let (underWay, most) = (Counter(), Counter())
      for origin in origins {
        origin.on(prefix: "/to/") { request in
          most.raise(to: underWay.add())
          defer { underWay.add(-1) }
          var steps = request.path.dropFirst("/to/".count).split(separator: "-")
          guard steps.count > 1, let next = Int(steps.removeFirst()) else { return .text(String(steps[0])) }
          return .redirect(to: urls[next] + steps.joined(separator: "-"))
        }
      }
      let engine = try NetworkEngine(on: queue)
      var random = SplitMix64(seed: UInt64(seed))
      let tally = Tally()
      var operations: [NetworkOperation] = []
      var paths: [String] = []
      for number in 0..<300 {
        var path = (0..<random.below(4)).map { _ in "\(random.below(30))" } + ["x\(number)"]
        if random.chance(30), let known = paths.randomElement(using: &random) {
          path = [known]
        } else {
          path = [urls[random.below(30)] + path.joined(separator: "-")]
          paths.append(path[0])
        }
        let operation = engine.operation(url: path[0])
        tally.watch(operation)
        operations.append(operation)
        engine.enqueue(operation)
        let other = operations[random.below(operations.count)]
        switch random.below(12) {
        case 0: other.cancel()
        case 1: other.pause()
        case 2: other.resume()
        case 3: other.priority = .high
        case 4 where random.chance(10): engine.cancelAll()
        case 5: await Task.yield()
        default: break
        }
      }
      for operation in operations { operation.resume() }
      await tally.wait(for: operations.count)
      #expect(tally.isOneEach && tally.count("completed") + tally.count("cancelled") == operations.count)
      #expect(most.value <= 5)
      #expect(await queue.drain() && !queue.activity.isBusy)
    }
  }

  @Test(arguments: [true, false])
  func `none that is redirected for ever outlives the end of all`(shutsDown: Bool) async throws {
    try await withTwoLoops { engine, here, there in
      // For ever from one to the other.
      here.on(prefix: "/a") { .redirect(to: there.url("/b" + $0.path.dropFirst(2) + "x")) }
      there.on(prefix: "/b") { .redirect(to: here.url("/a" + $0.path.dropFirst(2) + "x")) }
      let tally = Tally()
      for number in 0..<200 {
        var request = NetworkRequest(url: here.url("/a\(number)"))
        request.redirects = .atMost(10_000)
        tally.start(engine.operation(request))
      }
      #expect(await there.waitForRequests(100))
      if shutsDown { await engine.shutDown(deadline: .zero) } else { engine.cancelAll() }
      await tally.wait(for: 200)
      #expect(tally.isOneEach && tally.count(shutsDown ? "engineClosed" : "cancelled") == 200)
    }
  }

  @Test func `frozen requests keep their order, whatever their origins`() async throws {
    let folder = try TestFolder(in: TestFiles.fast)
    try await withQueue({ $0.loops = .fixed(4) }) { queue in
      let engine = try NetworkEngine(on: queue)
      var freezing = FreezeConfiguration(directory: folder.path + "/frozen")
      freezing.maySend = { _ in false }
      try engine.useFreezing(freezing)
      let urls = (0..<200).map { "http://h\($0 % 20).example/\($0)" }
      let (frozen, tell) = AsyncStream<Void>.makeStream()
      for url in urls {
        let operation = engine.operation(url: url, method: .post)
        operation.isFreezable = true
        operation.freezing.lane = "one"
        engine.enqueue(operation.onFrozen { _ in tell.yield() })
      }
      var left = frozen.makeAsyncIterator()
      for _ in urls { await left.next() }
      #expect(engine.frozenOperations.map(\.url) == urls)
      await blocking { engine.shutDownAndWait(deadline: .zero) }
    }
  }

  // MARK: Descriptors

  @Test func `a queue has as many loops as descriptors allow`() {
    let four = NetworkQueue.Loops.fixed(4)
    let limits = [32, 64, 128, 255, 256, 1024, .max]
    #expect(limits.map { four.count(descriptors: $0) } == [1, 1, 2, 3, 4, 4, 4])
  }

  @Test func `eight loops keep the connections of 512 requests in flight`() async throws {
    let count = LongRun.isOn ? 10_000 : 3_000
    try await withQueue({
      ($0.loops, $0.sizing, $0.maximumConcurrent) = (.fixed(8), .fixed(32), 512)
    }) { queue in
      let engine = try NetworkEngine(on: queue)
      let origins = try (0..<16).map { _ in try ScriptedOrigin(answering: .text("ok")) }
      let tally = Tally()
      for number in 0..<count { tally.start(engine.operation(url: origins[number % 16].url("/\(number)"))) }
      await tally.wait(for: count)
      #expect(tally.count("completed") == count, "\(tally)")
      // One for each place; those of exchanges that have been silent for a second do not count as one.
      #expect(origins.map(\.connectionCount).reduce(0, +) <= 640)
    }
  }
}
