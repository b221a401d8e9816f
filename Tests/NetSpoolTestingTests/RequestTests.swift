import NetSpoolTesting
import Testing

@Suite struct RequestTests {
  private let origin: ScriptedOrigin

  init() throws { origin = try ScriptedOrigin() }

  @Test func `records a request as it came`() throws {
    let client = try connected(origin)
    let text = "PuT /a%20b?c=d&e HTTP/1.1\r\nhOsT: t\r\nX-A:  one \r\nx-a: two\r\nContent-Length: 5\r\n\r\n"
    client.send(text + "hello")
    let request = try #require(origin.blockForRequest())
    #expect(request.method == "PuT")
    #expect(request.target == "/a%20b?c=d&e")
    #expect(request.path == "/a%20b")
    #expect(request.query == "c=d&e")
    #expect(request.headers.map(\.name) == ["hOsT", "X-A", "x-a", "Content-Length"])
    #expect(request.headers.all("X-a") == ["one", "two"])
    #expect(request.headBytes == Array(text.utf8))
    #expect(request.text == "hello")
    #expect(request.bodyHash == FNV1a.hash("hello".utf8))
    #expect(request.isComplete)
  }

  @Test func `reads chunked bodies at every split point`() throws {
    origin.fallback(.text("ok"))
    let request = Array(
      """
      POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n\
      5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nX-T: end\r\n\r\n
      """.utf8)
    let client = try connected(origin)
    for split in 1..<request.count {
      client.send(Array(request[..<split]))
      client.send(Array(request[split...]))
      #expect(client.readAnswer().body == "ok")
    }
    #expect(
      origin.requests.allSatisfy { $0.text == "hello world" && $0.trailers == [HeaderField("X-T", "end")] })
    #expect(origin.requestCount == request.count - 1)
  }

  @Test(arguments: [(10, 300_000), (OriginLimits().keptBodyBytesMax, 3 << 20)])
  func `keeps and counts and hashes within its limits`(kept: Int, count: Int) throws {
    var limits = OriginLimits()
    limits.keptBodyBytesMax = kept
    let origin = try ScriptedOrigin(limits: limits)
    origin.fallback(.text("ok"))
    let body = BodyPattern.bytes(count)
    let client = try connected(origin)
    client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: \(body.count)\r\n\r\n")
    client.send(body)
    #expect(client.readAnswer().body == "ok")
    let request = try #require(origin.blockForRequest())
    #expect(request.body == Array(body.prefix(kept)))
    #expect(request.bodyCount == body.count)
    #expect(request.bodyHash == FNV1a.hash(body))
  }

  @Test func `drops old requests but counts them`() throws {
    var limits = OriginLimits()
    limits.keptRequestsMax = 3
    let origin = try ScriptedOrigin(limits: limits)
    origin.fallback(.status(200))
    let client = try connected(origin)
    for number in 0..<1_500 {
      client.ask("/\(number)")
      _ = client.readHead()
    }
    #expect(origin.requestCount == 1_500)
    #expect(origin.requests.map(\.number) == [1_497, 1_498, 1_499])
    origin.forgetRequests()
    #expect(origin.requestCount == 0)
  }

  @Test func `drops the oldest requests when their bodies fill the room`() throws {
    var limits = OriginLimits()
    limits.keptBytesMax = 1_000
    let origin = try ScriptedOrigin(limits: limits)
    origin.fallback(.status(200))
    let client = try connected(origin)
    for _ in 0..<20 {
      client.send(
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\n" + String(repeating: "a", count: 100))
      _ = client.readHead()
    }
    #expect(origin.requestCount == 20 && origin.requests.last?.number == 19)
    #expect(origin.requests.reduce(0) { $0 + $1.body.count } <= 1_000)
  }

  static let wrong: [(String, Int)] = [
    ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    ("GET / HTTP/1.1\nHost: a\n\n", 400), ("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 505),
    ("GET  HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505), ("GET /\r\nHost: a\r\n\r\n", 505),
    ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nnocolon\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 70_000))", 431),
    ("GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: a\r\n", count: 1_001))\r\n", 431),
  ]

  @Test(arguments: wrong) func `rejects what is not HTTP`(request: String, status: Int) throws {
    let client = try connected(origin)
    client.send(request)
    #expect(String(decoding: client.readToEnd(), as: UTF8.self).hasPrefix("HTTP/1.1 \(status) "))
    #expect(client.end == .closed)
    #expect(origin.rejectedCount == 1)
    #expect(origin.requestCount == 0)
  }

  @Test func `tells of a request that was cut off`() async throws {
    let client = try connected(origin)
    client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhe")
    client.endSending()
    #expect(client.readToEnd() == [])
    #expect(origin.rejectedRequests == ["the connection ended inside a body"])
  }

  @Test func `continues when it is expected to`() throws {
    origin.fallback { .text($0.text) }
    let client = try connected(origin)
    client.ask("/", method: "POST", fields: "Content-Length: 4\r\nExpect: 100-continue\r\n")
    #expect(client.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
    client.send("body")
    #expect(client.readAnswer().body == "body")
  }

  @Test func `does not continue when it is told not to`() async throws {
    origin.fallback(.text("done"))
    origin.expectPolicy = .ignore
    let client = try connected(origin)
    client.ask("/", method: "POST", fields: "Content-Length: 4\r\nExpect: 100-continue\r\n")
    client.send("body")
    #expect(client.readAnswer().head.hasPrefix("HTTP/1.1 200 "))
    origin.expectPolicy = .refuse
    client.ask("/", method: "POST", fields: "Content-Length: 4\r\nExpect: 100-continue\r\n")
    #expect(String(decoding: client.readToEnd(), as: UTF8.self).hasPrefix("HTTP/1.1 417 "))
  }

  @Test func `answers before the body has come`() throws {
    origin.on("/fixed", Answer.text("early").early())
    origin.onHead("/head") { $0.header("X-Go") == nil ? .text("no") : nil }
    origin.on("/head") { .text("\($0.bodyCount)") }
    let client = try connected(origin)
    #expect(client.answer(to: "/fixed", method: "POST", fields: "Content-Length: 4\r\n").body == "early")
    client.send("body")
    #expect(client.answer(to: "/head", method: "POST", fields: "Content-Length: 4\r\n").body == "no")
    client.send("body")
    client.ask("/head", method: "POST", fields: "X-Go: 1\r\nContent-Length: 4\r\n")
    client.send("body")
    #expect(client.readAnswer().body == "4")
    #expect(origin.requests.map(\.isComplete) == [false, false, true])
  }
}
