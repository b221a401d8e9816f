import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// An operation ends exactly once, and everybody who asked hears of it.
struct EndingTests {
  @Test func `a redirect is no change of state`() async throws {
    try await withEngine { engine, origin in
      origin.on("/from", .redirect(to: "/to"))
      origin.on("/to", .text("there"))
      let states = Journal<NetworkOperation.State>()
      let operation = engine.operation(path: "/from").onStateChange { states.add($0) }
      let ending = await engine.end(of: operation)
      #expect(ending.text == "there")
      #expect(ending.response?.metrics.redirects == 1)
      #expect(states.entries == [.queued, .executing, .finished])
    }
  }

  @Test func `an error says as a command what was sent, without secrets`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .status(500))
      let operation = engine.operation(path: "/a").setAuthorization("hunter2").setHeader("X-Plain", "seen")
      let error = await engine.end(of: operation).error
      #expect(error?.curlCommand == operation.curlCommand)
      #expect(error?.curlCommand?.contains("X-Plain: seen") == true)
      #expect(error?.curlCommand?.contains("hunter2") == false)
      let refused = engine.operation(url: "ftp://h/").setAuthorization("hunter2")
      #expect(await engine.end(of: refused).error?.curlCommand == refused.curlCommand)
      #expect(NetworkError(code: .cancelled).curlCommand == nil)
    }
  }

  @Test func `a tag that is set while an operation is under way counts`() async throws {
    try await withEngine { engine, origin in
      let operation = await engine.held("/a", at: origin)
      operation.tag = "album"
      engine.cancel(tag: "album")
      #expect(await operation.end().code == .cancelled)
    }
  }

  @Test func `every handler of several is called once, in the order they were added`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .text("hello"))
      let calls = Journal<Int>()
      let operation = engine.operation(path: "/a")
      for number in 0..<5 { operation.onCompletion { _ in calls.add(number) } }
      operation.onError { _ in calls.add(-1) }
      _ = await engine.end(of: operation)
      #expect(calls.entries == [0, 1, 2, 3, 4])
    }
  }

  @Test func `enqueueing twice sends once and ends once`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .text("hello"))
      let tally = Tally()
      let operation = engine.operation(path: "/a")
      tally.start(operation)
      engine.enqueue(operation)
      await tally.wait(for: 1)
      engine.enqueue(operation)
      _ = await engine.end(of: engine.operation(path: "/a"))
      #expect(tally.ended == 1)
      #expect(origin.hits("/a") == 2)
    }
  }

  @Test(arguments: [400, 404, 429, 500, 599])
  func `a status of 400 to 599 is an error with the answer`(status: Int) async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .text("why", status: status))
      let ending = await engine.end(of: engine.operation(path: "/a"))
      #expect(ending.code == .status)
      #expect(ending.error?.response?.status == status)
      #expect(ending.error?.response?.text == "why")
      #expect(ending.error?.underlying == .http(status))
    }
  }

  @Test func `progress ends with the whole, and the last word comes before the completion`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .pattern(300_000))
      let events = Journal<String>()
      let operation = engine.operation(path: "/a")
        .onDownloadProgress { events.add($0.fraction == 1 ? "whole" : "part") }
        .onCompletion { _ in events.add("completed") }
      _ = await engine.end(of: operation)
      #expect(events.entries.suffix(2) == ["whole", "completed"])
    }
  }

  @Test func `late handlers hear the last of their events`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .text("thanks"))
      origin.on("/same", .status(304))
      let operation = engine.operation(path: "/a", method: .post).setBody(.bytes([1, 2, 3]))
      let same = engine.operation(path: "/same").setHeader("If-None-Match", "\"1\"")
      _ = await engine.end(of: operation)
      _ = await engine.end(of: same)
      let events = Journal<String>()
      operation.onStateChange { events.add("\($0)") }
        .onUploadProgress { events.add("sent \($0.done) \($0.fraction ?? 0)") }
        .onDownloadProgress { events.add("received \($0.done) \($0.fraction ?? 0)") }
        .onNotModified { events.add("not modified") }
      same.onNotModified { events.add("same") }
      _ = await operation.end()
      _ = await same.end()
      #expect(events.entries == ["finished", "sent 3 1.0", "received 6 1.0", "same"])
    }
  }

  /// In a process of its own, so that nothing else counts.
  @Test(.notSanitized(.memoryIsNoMeasure))
  func `a crowd that was cancelled leaves no memory behind`() async {
    await #expect(processExitsWith: .success) {
      try await withEngine(queue: { $0.isSuspended = true }) { engine, origin in
        func crowd(_ count: Int) async {
          let operations = engine.start((0..<count).map { engine.operation(path: "/\($0)") })
          engine.cancelAll()
          _ = await operations.last?.end()
          while await !engine.configuration.queue.drain(deadline: .seconds(60)) {}
        }
        await crowd(1_000)
        let before = MemoryUse.resident
        await crowd(200_000)
        // A kilobyte or two for each while they wait; given back a second after the last has gone
        let isGone = await until { MemoryUse.resident - before < 48 << 20 }
        #expect(isGone, "\((MemoryUse.resident - before) >> 20) MiB")
      }
    }
  }

  @Test func `the events of a request end with its ending`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .text("hello"))
      var seen: [String] = []
      for await event in engine.events(for: NetworkRequest(url: origin.url("/a"))) {
        switch event {
        case .state(let state): seen.append(state.rawValue)
        case .finished(let ending): seen.append(ending.text ?? "error")
        default: break
        }
      }
      #expect(seen == ["queued", "executing", "finished", "hello"])
    }
  }
}
