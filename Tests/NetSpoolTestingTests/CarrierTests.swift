import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// The same scripts mean the same without TLS, with it, and over HTTP/2.
@Suite struct CarrierTests {
  @Test(arguments: Carrier.allCases)
  func `answers are what they were scripted to be`(_ by: Carrier) async throws {
    let (origin, client) = try by.pair()
    origin.on("/text", Answer.text("hello").header("X-Twice", "1").header("X-Twice", "2"))
    origin.on("/json", .json(["id": 7]))
    origin.on("/chunks", .chunks([[65, 66], [67]]))
    origin.on("/until", Answer.text("until").framed(.untilClose))
    origin.on("/slices", Answer.text("0123456789").slice(3))
    origin.on("/none", .status(204))
    let text = try await client.get("text")
    #expect(text.text == "hello" && text.httpVersion == by.version)
    #expect(text.headers.values(for: "X-Twice") == ["1", "2"])
    #expect(text.headers["Content-Length"] == "5")
    for (path, wanted) in [
      ("json", "{\"id\":7}"), ("chunks", "ABC"), ("until", "until"), ("slices", "0123456789"),
    ] { #expect(try await client.get(path).text == wanted, "\(path)") }
    let none = try await client.get("none")
    #expect(none.status == 204 && none.body.count == 0)
    let head = try await client.engine.head("text")
    #expect(head.headers["Content-Length"] == "5" && head.body.count == 0)
    #expect(origin.rejectedRequests == [])
  }

  @Test(arguments: Carrier.allCases)
  func `requests are recorded as they were sent`(_ by: Carrier) async throws {
    let (origin, client) = try by.pair()
    origin.fallback(.status(201))
    let body = [UInt8](repeating: 120, count: 300_000)
    var request = NetworkRequest(path: "things?a=b", method: .put, body: .bytes(body))
    request.headers["X-Own"] = "own"
    _ = try await client.engine.response(for: request)
    let seen = try #require(origin.requests.first)
    #expect(seen.method == "PUT" && seen.path == "/things" && seen.query == "a=b" && seen.isComplete)
    #expect(seen.body == body && seen.header("X-Own") == "own" && seen.version.rawValue == by.version)
    #expect(seen.header("Host") == "127.0.0.1:\(origin.port)")
    #expect(seen.headers.allSatisfy { !$0.name.hasPrefix(":") })
  }

  @Test(arguments: Carrier.allCases)
  func `a body of four windows arrives whole in both directions`(_ by: Carrier) async throws {
    let (origin, client) = try by.pair()
    let count = 1_000_000
    origin.on("/big", .pattern(count))
    let response = try await client.get("big")
    #expect(response.body.count == count && BodyPattern.matches(Array(response.body)))
    origin.on("/take") { .text("\($0.bodyHash)") }
    let sent = BodyPattern.bytes(count)
    let hash = try await client.engine.post("take", body: .bytes(sent)).text
    var wanted = FNV1a()
    wanted.update(sent[...])
    #expect(hash == "\(wanted.value)")
  }

  @Test(arguments: Carrier.allCases) func `a held path waits for its release`(_ by: Carrier) async throws {
    let (origin, client) = try by.pair()
    origin.hold("/held")
    origin.on("/held", .text("old"))
    origin.on("/free", .text("free"))
    async let held = client.get("held")
    #expect(await origin.waitForWaiting("/held", 1))
    #expect(try await client.get("free").text == "free")
    // Its answer is chosen when it is let go
    origin.on("/held", .text("new"))
    origin.releaseAll()
    #expect(try await held.text == "new")
  }

  @Test(arguments: Carrier.allCases) func `a client that gives up leaves its gate`(_ by: Carrier) async throws
  {
    let (origin, client) = try by.pair()
    origin.hold("/held")
    origin.on("/next", .status(204))
    let operation = client.engine.operation(path: "held")
    client.engine.enqueue(operation)
    #expect(await origin.waitForWaiting("/held", 1))
    operation.cancel()
    // From 7.88 on to 8.14 libcurl tells a server of that with the next request that goes there.
    _ = try await client.get("next")
    #expect(await until { origin.waitingCount("/held") == 0 })
  }

  struct Cut: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let answer: Answer
  }

  static let cuts = [
    Cut(testDescription: "hang up", answer: .hangUp),
    Cut(testDescription: "close in the head", answer: .text("hello").fault(.close, at: .head(5))),
    Cut(testDescription: "close in the body", answer: .pattern(100_000).closeAfter(1_000)),
    Cut(testDescription: "close in a chunk", answer: .chunks([[65], [66]]).closeAfter(8)),
    Cut(testDescription: "reset before the answer", answer: .text("hello").fault(.reset, at: .requestRead)),
    Cut(testDescription: "reset in the body", answer: .pattern(100_000).resetAfter(1_000)),
    Cut(testDescription: "garbage", answer: .raw("what is this?\r\n\r\n")),
  ]

  @Test(arguments: Carrier.allCases, cuts)
  func `what is cut is a failure, and the next request is not`(_ by: Carrier, _ cut: Cut) async throws {
    let (origin, client) = try by.pair()
    origin.on("/cut", cut.answer)
    origin.on("/whole", .text("whole"))
    #expect(await client.failure("cut") != nil)
    #expect(try await client.get("whole").text == "whole")
  }

  @Test(arguments: Carrier.allCases)
  func `a stall lasts until everything is released`(_ by: Carrier) async throws {
    let (origin, client) = try by.pair()
    origin.on("/stalled", Answer.text("0123456789").fault(.gate("half"), at: .body(5)))
    origin.on("/free", .text("free"))
    async let stalled = client.get("stalled")
    #expect(await origin.waitForWaiting("half", 1))
    #expect(try await client.get("free").text == "free")
    origin.releaseAll()
    #expect(try await stalled.text == "0123456789")
  }

  @Test(arguments: Carrier.allCases)
  func `an early answer does not wait for the body`(_ by: Carrier) async throws {
    let (origin, client) = try by.pair()
    origin.onHead("/full") { _ in Answer.status(413).closing() }
    let request = NetworkRequest(
      path: "full", method: .post, body: .bytes(.init(repeating: 0, count: 400_000)))
    let error = await #expect(throws: NetworkError.self) {
      _ = try await client.engine.response(for: request)
    }
    #expect(error?.response?.status == 413)
    #expect(origin.requests.first?.isComplete == false)
  }

  @Test(arguments: Carrier.allCases)
  func `it comes back on its port with the same certificate`(_ by: Carrier) async throws {
    let (origin, client) = try by.pair()
    origin.fallback(.text("here"))
    #expect(try await client.get("").text == "here")
    for _ in 0..<2 {
      origin.stop()
      #expect(origin.openConnections == 0 && RawClient(port: origin.port) == nil)
      #expect(await client.failure("") != nil)
      try origin.restart()
      #expect(try await client.get("").text == "here")
    }
    #expect(await origin.waitForOpenConnections(1))
    #expect(origin.requestCount == 3)
  }
}
