import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// Where an operation can be stopped, and how it goes on.
struct StoppingTests {
  @Test func `an operation that is paused before it is enqueued starts when it is resumed`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .text("a"))
      let operation = engine.operation(path: "/a")
      operation.pause()
      engine.enqueue(operation)
      await engine.settle()
      #expect(operation.state == .paused && origin.hits("/a") == 0)
      operation.resume()
      #expect(await operation.end().text == "a")
    }
  }

  @Test(arguments: [true, false])
  func `an operation that is paused behind another waits for both`(_ isResumedFirst: Bool) async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .text("a"))
      let first = await engine.held("/first", .text("first"), at: origin)
      let operation = engine.start(engine.operation(path: "/a").addDependency(first))
      operation.pause()
      await engine.settle()
      #expect(operation.state == .paused)
      if isResumedFirst { operation.resume() }
      origin.release("/first")
      #expect(await first.end().text == "first")
      await engine.settle()
      if !isResumedFirst {
        #expect(operation.state == .paused && origin.hits("/a") == 0)
        operation.resume()
      }
      #expect(await operation.end().text == "a")
    }
  }

  @Test func `an operation that is paused between two attempts makes none`() async throws {
    try await withEngine { engine, origin in
      let operation = await engine.waitingAgain("/a", at: origin)
      origin.on("/a", .text("done"))
      operation.pause()
      await engine.settle()
      #expect(operation.state == .paused && origin.hits("/a") == 1)
      operation.resume()
      #expect(await operation.end().text == "done")
    }
  }

  @Test func `the stream of one who comes during an error page gets none of it`() async throws {
    try await withEngine { engine, origin in
      origin.on(
        "/a",
        .raw([
          .text("HTTP/1.1 404 Not Found\r\nContent-Length: 10\r\n\r\nerror"), .gate("middle"), .text("page!"),
        ]))
      let first = engine.start("/a")
      #expect(await origin.waitForWaiting("middle", 1))
      await engine.settle()
      let stream = MemoryDownloadStream()
      let second = engine.start(engine.operation(path: "/a").addDownloadStream(stream))
      await engine.settle()
      origin.release("middle")
      #expect(await first.end().code == .status)
      #expect(await second.end().code == .status)
      #expect(stream.bytes.isEmpty && !stream.isWhole)
    }
  }
}
