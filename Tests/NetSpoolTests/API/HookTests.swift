import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

struct HookTests {
  @Test func `prepare changes what is sent, once`() async throws {
    try await withEngine({ configuration in
      configuration.prepare = { request in
        request.headers.set("X-Prepared", "yes")
        request.url += "?prepared"
      }
    }) { engine, origin in
      origin.on("/a", .text("ok"))
      let operation = engine.operation(path: "/a")
      #expect(await engine.end(of: operation).text == "ok")
      #expect(origin.requests.first?.target == "/a?prepared")
      #expect(origin.requests.first?.header("X-Prepared") == "yes")
      #expect(operation.request.url.hasSuffix("/a?prepared"))
    }
  }

  private struct Own: Error {}

  @Test func `a throw of prepare ends the operation before anything is sent`() async throws {
    try await withEngine({ configuration in
      configuration.prepare = { request in
        if request.url.hasSuffix("own") { throw Own() }
        throw NetworkError(code: .offline, reason: "by choice")
      }
    }) { engine, origin in
      let own = await engine.end(of: engine.operation(path: "/own"))
      #expect(own.code == .invalidRequest && own.error?.thrown is Own)
      let ending = await engine.end(of: engine.operation(path: "/a"))
      #expect(ending.code == .offline && ending.reason == "by choice")
      #expect(origin.connectionCount == 0)
    }
  }

  @Test func `validate makes a 200 an error and a 404 a success`() async throws {
    try await withEngine({ configuration in
      configuration.validate = { response in
        if response.text?.contains("\"error\"") == true { throw Own() }
        if response.text == "no" { throw NetworkError(code: .protocolViolation, reason: "no") }
      }
    }) { engine, origin in
      origin.on("/error", .text("{\"error\": 1}"))
      origin.on("/no", .text("no"))
      origin.on("/missing", .text("nothing", status: 404))
      let error = await engine.end(of: engine.operation(path: "/error"))
      #expect(error.code == .status)
      #expect(error.error?.response?.status == 200 && error.error?.thrown is Own)
      let no = await engine.end(of: engine.operation(path: "/no"))
      #expect(no.code == .protocolViolation && no.error?.response?.text == "no")
      #expect(await engine.end(of: engine.operation(path: "/missing")).response?.status == 404)
    }
  }

  @Test func `a failure without a handler is told to the engine, once, and no other`() async throws {
    let unhandled = Journal<String>()
    let first = Latch()
    try await withEngine({ configuration in
      configuration.onUnhandledFailure = { error in
        unhandled.add("\(error.code) \(error.url?.last ?? "?")")
        first.open()
      }
    }) { engine, origin in
      origin.on(prefix: "/", .status(500))
      engine.start("/1")
      await first.opened()
      _ = await engine.end(of: engine.operation(path: "/2").onError { _ in })
      let cancelled = engine.operation(path: "/3")
      cancelled.cancel()
      engine.enqueue(cancelled)
      engine.enqueue(engine.operation(url: "nonsense4"))
      #expect(engine.configuration.queue.drainAndWait(deadline: .seconds(60)))
      engine.shutDownAndWait()
      #expect(unhandled.entries == ["status 1", "invalidURL 4"])
    }
  }

  @Test func `shutting down hears nothing for the user: unhandled failures are still told`() async throws {
    let unhandled = Journal<NetworkError.Code>()
    try await withEngine({ $0.onUnhandledFailure = { unhandled.add($0.code) } }) { engine, origin in
      _ = await engine.held("/held", at: origin)
      engine.shutDownAndWait(deadline: .seconds(0))
      #expect(unhandled.entries == [.engineClosed])
    }
  }
}
