import Dispatch
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Where closures run.
struct DeliveryTests {
  @Test func `the engine's own queue runs one closure at a time, in order`() async throws {
    try await withEngine { engine, origin in
      origin.on(prefix: "/", .text("ok"))
      let (inside, overlaps, tally) = (Counter(), Counter(), Tally())
      for number in 0..<200 {
        let operation = engine.operation(path: "/\(number)").onCompletion { _ in
          if inside.add() > 1 { overlaps.add() }
          inside.add(-1)
        }
        tally.start(operation)
      }
      await tally.wait(for: 200)
      #expect(overlaps.value == 0 && tally.count("completed") == 200)
    }
  }

  @Test func `your queue is used, for late handlers and refusals too`() async throws {
    let queue = DispatchQueue(label: "mine")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    try await withEngine({ $0.delivery = .queue(queue) }) { engine, origin in
      origin.on("/a", .text("ok"))
      let calls = Journal<String>()
      let place: @Sendable () -> String = {
        DispatchQueue.getSpecific(key: key) == true ? "here" : "elsewhere"
      }
      func note(_ operation: NetworkOperation) -> NetworkOperation {
        operation.onCompletion { _ in calls.add("completed \(place())") }
          .onError { calls.add("\($0.code) \(place())") }
          .onStateChange { calls.add("\($0) \(place())") }
      }
      let operation = note(engine.operation(path: "/a"))
      _ = await engine.end(of: operation)
      operation.onCompletion { _ in calls.add("late \(place())") }
      _ = await operation.end()
      _ = await engine.end(of: note(engine.operation(url: "nonsense")))
      #expect(
        calls.entries == [
          "queued here", "executing here", "finished here", "completed here", "late here", "queued here",
          "finished here", "invalidURL here",
        ])
    }
  }

  @Test func `a handler that comes between the end and its closures hears its last event`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .text("ok"))
      let (begun, latch, calls) = (Latch(), Latch(), Journal<String>())
      let first = engine.operation(path: "/a")
        .onCompletion { _ in
          begun.open()
          latch.block()
        }
      engine.enqueue(first)
      await begun.opened()
      let operation = engine.operation(path: "/a", method: .put).onStateChange { calls.add("before: \($0)") }
      operation.setBody(.bytes(Array("four".utf8)))
      engine.enqueue(operation)
      #expect(await until { operation.state == .finished })
      operation.onStateChange { calls.add("\($0)") }
        .onUploadProgress { calls.add("sent \($0.done) of \($0.total ?? 0)") }
        .onDownloadProgress { calls.add("received \($0.done) of \($0.total ?? 0)") }
        .onCompletion { _ in calls.add("done") }
      latch.open()
      _ = await operation.end()
      #expect(
        calls.entries.suffix(5) == ["before: finished", "finished", "sent 4 of 4", "received 2 of 2", "done"])
      #expect(calls.entries.filter { $0.hasSuffix("finished") }.count == 2)
    }
  }

  @Test func `the loop thread is used when asked for`() async throws {
    try await withEngine({ $0.delivery = .loopThread }) { engine, origin in
      origin.on("/a", .text("ok"))
      let threads = Journal<UInt>()
      let operation = engine.operation(path: "/a")
        .addDownloadStream(
          ClosureDownloadStream { _ in
            threads.add(CurrentThread.id)
            return .accepted
          }
        )
        .onCompletion { _ in threads.add(CurrentThread.id) }
      _ = await engine.end(of: operation)
      #expect(threads.count == 2)
      #expect(Set(threads.entries).count == 1)
    }
  }

  @Test func `an operation on a queue that has closed ends all the same`() async throws {
    for delivery in [NetworkEngine.Delivery.serialQueue, .loopThread] {
      try await withEngine({ $0.delivery = delivery }) { engine, origin in
        origin.on("/a", .text("ok"))
        #expect(await engine.end(of: engine.operation(path: "/a")).text == "ok")
        #expect(engine.configuration.queue.driver.close() == 0)
        #expect(await engine.end(of: engine.operation(path: "/a")).code == .engineClosed)
        engine.shutDownAndWait()  // returns
      }
    }
  }

  @Test(arguments: Trap.allCases) func `waiting for oneself traps with a sentence`(trap: Trap) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [trap = trap.rawValue as String] in
      try await DeliveryTests.waitInside(Trap(rawValue: trap)!)
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("would wait for itself"))
  }

  enum Trap: String, CaseIterable, Codable, Sendable {
    case waitInDelivery, waitOnLoop, waitInStream, drainInDelivery
  }

  private static func waitInside(_ trap: Trap) async throws {
    try await withEngine({ if trap == .waitOnLoop { $0.delivery = .loopThread } }) { engine, origin in
      origin.on("/a", .text("ok"))
      let operation = engine.operation(path: "/a")
      switch trap {
      case .waitInDelivery, .waitOnLoop:
        operation.onCompletion { _ in _ = try? engine.wait(for: engine.operation(path: "/a")) }
      case .waitInStream:
        operation.addDownloadStream(
          ClosureDownloadStream { _ in
            _ = try? engine.wait(for: engine.operation(path: "/a"))
            return .accepted
          })
      case .drainInDelivery: operation.onCompletion { _ in engine.configuration.queue.drainAndWait() }
      }
      _ = await engine.end(of: operation)
    }
  }

  @Test func `a script may wait`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .text("ok"))
      let response = try engine.wait(for: engine.operation(path: "/a"))
      #expect(response.text == "ok")
      #expect(failure { _ = try engine.wait(for: NetworkRequest(url: "nonsense")) }?.code == .invalidURL)
    }
  }
}
