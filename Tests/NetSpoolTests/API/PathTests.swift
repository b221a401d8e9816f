import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Requests to paths")
struct PathTests {
  @Test func `a call each`() async throws {
    try await withEngine({ $0.basePath = "v1" }) { (engine, origin) async throws in
      origin.fallback { .text("\($0.method) \($0.target) \($0.text)") }
      #expect(try await engine.get("users/7", parameters: ["a": "b"]).text == "GET /v1/users/7?a=b ")
      #expect(try await engine.delete("users/7").text == "DELETE /v1/users/7 ")
      #expect(try await engine.head("users").status == 200)
      #expect(try await engine.post("users", parameters: ["a": "b"]).text == "POST /v1/users a=b")
      #expect(try await engine.put("users", body: .bytes([0x61])).text == "PUT /v1/users a")
      #expect(try await engine.patch("users", body: .json([0x7B, 0x7D])).text == "PATCH /v1/users {}")
    }
  }

  @Test func `an error is thrown, a cancelled task says so`() async throws {
    try await withEngine { engine, origin in
      origin.on("/missing", .status(404))
      origin.on("/held", .noAnswer)
      let error = await #expect(throws: NetworkError.self) { try await engine.get("missing") }
      #expect(error?.code == .status && error?.response?.status == 404)
      let task = Task { try await engine.get("held") }
      #expect(await origin.waitForHits("/held", 1))
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test func `the same with closures`() async throws {
    try await withEngine { engine, origin in
      origin.fallback { $0.path == "/missing" ? .status(404) : .text("\($0.method) \($0.text)") }
      let texts = Journal<String>()
      let all = Latch()
      @Sendable func note(_ text: String) {
        texts.add(text)
        if texts.count == 7 { all.open() }
      }
      for path in ["a", "missing"] {
        engine.get(path, onCompletion: { note($0.text ?? "") }, onError: { note("\($0.code)") })
      }
      engine.head("a") { note("HEAD \($0.status)") }
      engine.delete("a") { note($0.text ?? "") }
      engine.post("a", body: .bytes([0x61])) { note($0.text ?? "") }
      engine.put("a", parameters: ["b": "c"]) { note($0.text ?? "") }
      engine.patch("a") { note($0.text ?? "") }
      await all.opened()
      #expect(Set(texts.entries) == ["GET ", "HEAD 200", "DELETE ", "POST a", "PUT b=c", "PATCH ", "status"])
    }
  }

  @Test func `a request for a path belongs to the engine that sends it`() async throws {
    try await withEngine({ $0.basePath = "/v2/" }) { engine, origin in
      origin.fallback { .text("\($0.method) \($0.target)") }
      var request = NetworkRequest(path: "/a b", method: .post)
      request.parameters = ["c": "d"]
      #expect(request.url == "/a b")
      let operation = engine.operation(request)
      #expect(operation.request.url == origin.url("/v2/a%20b"))
      #expect(await engine.end(of: operation).text == "POST /v2/a%20b")
      let nowhere = try NetworkEngine()
      let ending = await nowhere.end(of: nowhere.operation(request))
      #expect(ending.code == .invalidURL && ending.reason == "noHost")
    }
  }

  @Test func `every ending is told once, behind the operation's own handlers`() async throws {
    let told = Journal<String>()
    let last = Latch()
    try await withEngine {
      $0.onEnd = { operation, result, metrics in
        told.add("\(operation.tag ?? "") \((try? result.get().status) ?? 0) \(metrics.attempts)")
        #expect((metrics.endToEnd > .zero) == (operation.tag != "never"))
        if told.count == 8 { last.open() }
      }
    } _: { engine, origin in
      origin.fallback { $0.path == "/missing" ? .status(404) : .text("hello") }
      origin.on("/held", .noAnswer)
      func send(_ path: String, _ tag: String) -> NetworkOperation {
        let operation = engine.operation(path: path)
        operation.tag = tag
        operation.onCompletion { _ in told.add("own \(tag)") }.onError { _ in told.add("own \(tag)") }
        engine.enqueue(operation)
        return operation
      }
      _ = await send("a", "good").end()
      _ = await send("missing", "bad").end()
      let held = send("held", "cancelled")
      #expect(await origin.waitForHits("/held", 1))
      held.cancel()
      _ = await held.end()
      let never = engine.operation(path: "never")
      never.tag = "never"
      never.onError { _ in told.add("own never") }
      never.cancel()
      await last.opened()
      #expect(
        told.entries.prefix(6) == [
          "own good", "good 200 1", "own bad", "bad 0 1", "own cancelled", "cancelled 0 1",
        ])
      #expect(told.entries.suffix(2) == ["own never", "never 0 1"])
    }
  }

  @Test func `values say what they are, and not what they hold`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", Answer.bytes(Thumbnail.png(1), type: "image/png"))
      let response = try await engine.get("a", parameters: ["token": "secret"])
      #expect("\(response.body)" == "\(response.body.count) bytes")
      #expect("\(try #require(response.image))" == "image/png, 32 x 32, \(response.body.count) bytes")
      #expect("\(response.head)" == "200 HTTP/1.1")
      var form = Multipart()
      form.addField("secret", forKey: "token")
      var shown = ""
      dump(form, to: &shown)
      #expect("\(form)" == "multipart of 1" && !shown.contains("115") && shown.utf8.count < 100, "\(shown)")
      let result = Result<NetworkResponse, NetworkError>.success(response)
      for text in ["\(response)", "\(result)", String(reflecting: response), "\(response.image as Any)"] {
        #expect(!text.contains("secret") && !text.contains("137, 80") && text.utf8.count < 600, "\(text)")
      }
    }
  }

  @Test func `a body is compressed when asked for`() async throws {
    try await withEngine { engine, origin in
      origin.fallback { .text("\($0.header("Content-Encoding") ?? "none") \($0.bodyCount)") }
      let text = [UInt8](repeating: 0x61, count: 100_000)
      var request = NetworkRequest(path: "a", method: .post, body: .bytes(text, contentType: "text/plain"))
      #expect(try await engine.response(for: request).text == "none 100000")
      request.compression = .gzip
      let operation = engine.operation(request)
      let answer = await engine.end(of: operation).text ?? ""
      #expect(answer.hasPrefix("gzip ") && Int(answer.dropFirst(5)) ?? 0 < 1_000)
      #expect(!operation.curlCommand.contains("Content-Encoding"))
      let sent = try #require(origin.requests.last)
      let decoder = try #require(try ContentDecoder.make(for: ["Content-Encoding": "gzip"]))
      var unpacked: [UInt8] = []
      try decoder.decode(sent.body.rawBytes) {
        unpacked.append($0)
        return true
      }
      try decoder.finish()
      #expect(unpacked == text)
      request.headers.set("Content-Encoding", "br")
      #expect(try await engine.response(for: request).text == "br 100000")
    }
  }
}
