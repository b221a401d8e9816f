import NetSpoolTesting
import Testing

@Suite struct ServingTests {
  private let origin: ScriptedOrigin

  init() throws { origin = try ScriptedOrigin() }

  @Test func `answers one request after another on one connection`() throws {
    origin.on("/a") { .text("\($0.indexOnConnection)") }
    let client = try connected(origin)
    for index in 0..<3 {
      #expect(client.answer(to: "/a?x=\(index)").body == "\(index)")
    }
    #expect(origin.connectionCount == 1)
    #expect(origin.hits("/a") == 3)
    #expect(origin.requests.map(\.query) == ["x=0", "x=1", "x=2"])
  }

  @Test func `a type that is given takes the place of the usual one`() throws {
    let answer = Answer.text("<a/>").header("content-type", "text/xml").header("X-A", "1")
    #expect(answer.headers.map(\.description) == ["content-type: text/xml", "X-A: 1"])
    let twice = answer.header("Content-Type", "text/html")
    #expect(twice.headers.all("Content-Type") == ["text/xml", "text/html"])
  }

  @Test func `answers pipelined requests in order`() throws {
    origin.fallback { .text($0.path) }
    let client = try connected(origin)
    let paths = (0..<100).map { "/\($0)" }
    client.send(paths.map { "GET \($0) HTTP/1.1\r\nHost: t\r\n\r\n" }.joined())
    #expect(paths.map { _ in client.readAnswer().body } == paths)
  }

  @Test func `answers pipelined requests of a client that sends no more`() throws {
    origin.fallback { .text($0.path) }
    let client = try connected(origin, asking: "/1")
    client.ask("/2")
    client.endSending()
    #expect(client.readAnswer().body == "/1")
    #expect(client.readAnswer().body == "/2")
    #expect(client.readToEnd() == [])
    #expect(client.end == .closed)
  }

  @Test func `takes answers by path queue route prefix queue and fallback`() throws {
    origin.on("/route", .text("route"))
    origin.on(prefix: "/p", .text("short"))
    origin.on(prefix: "/prefix", .text("long"))
    origin.enqueue(.text("first"), for: "/route")
    origin.enqueue(.text("queued"))
    origin.fallback(.text("fallback"))
    let client = try connected(origin)
    let answers = ["/route", "/route", "/prefix/x", "/px", "/other", "/other"].map {
      client.answer(to: $0).body
    }
    #expect(answers == ["first", "route", "long", "short", "queued", "fallback"])
  }

  @Test func `a route may be for a method, and what came is read by name`() throws {
    origin.on("/a", method: "PUT", .text("put"))
    origin.on("/a", method: "DELETE") { .text($0.parameters["q"] ?? "") }
    origin.on("/a", .text("any"))
    let client = try connected(origin)
    let asked = [("PUT", "/a"), ("DELETE", "/a?q=a+b%2Bc%&q=2&x"), ("OPTIONS", "/a")]
    let answers = asked.map { method, target in client.answer(to: target, method: method).body }
    #expect(answers == ["put", "a b+c%", "any"])
    #expect(origin.requests(for: "/a").last?.parameters == [:])
    #expect(origin.requests[1].parameters == ["q": "a b+c%", "x": ""])
    #expect(origin.requests.first?.json == nil)
  }

  @Test func `answers head without a body and keeps the connection in step`() throws {
    origin.on("/a", .text("hello"))
    let client = try connected(origin, asking: "/a", method: "HEAD")
    #expect(client.readHead().contains("Content-Length: 5\r\n"))
    #expect(client.answer(to: "/a").body == "hello")
  }

  @Test(arguments: [204, 304]) func `sends neither body nor length with`(status: Int) throws {
    origin.fallback(.text("never", status: status))
    let client = try connected(origin, asking: "/")
    #expect(!client.readHead().contains("Content-Length"))
    client.ask("/")
    #expect(client.readHead().hasPrefix("HTTP/1.1 \(status) "))
  }

  @Test func `writes the answer byte for byte`() throws {
    origin.on("/a", Answer(status: 299, headers: ["x-Odd": "1"], body: .text("hi")).reason("Fine").closing())
    let client = try connected(origin, asking: "/a")
    let text = String(decoding: client.readToEnd(), as: UTF8.self)
    #expect(text == "HTTP/1.1 299 Fine\r\nx-Odd: 1\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
    #expect(client.end == .closed)
  }

  @Test func `an answer that says it is the last one is`() throws {
    origin.on("/a", .text("hi").header("Connection", "Close"))
    let client = try connected(origin, asking: "/a")
    #expect(String(decoding: client.readToEnd(), as: UTF8.self).contains("\r\nConnection: Close\r\n"))
    #expect(client.end == .closed)
  }

  @Test func `frames bodies in chunks`() throws {
    origin.on("/list", .chunks([Array("hello".utf8), [], Array(" world, again".utf8)]))
    origin.on("/sized", Answer(body: .text("abcdefg")).framed(.chunked(size: 3)))
    let client = try connected(origin, asking: "/list", fields: "Connection: keep-alive\r\n")
    #expect(client.readHead().contains("Transfer-Encoding: chunked\r\n"))
    let list = "5\r\nhello\r\nd\r\n world, again\r\n0\r\n\r\n"
    #expect(String(decoding: client.read(list.utf8.count), as: UTF8.self) == list)
    client.ask("/sized", fields: "Connection: close\r\n")
    _ = client.readHead()
    #expect(
      String(decoding: client.readToEnd(), as: UTF8.self) == "3\r\nabc\r\n3\r\ndef\r\n1\r\ng\r\n0\r\n\r\n")
  }

  /// A body of 1 EiB: if any of it but a block were held, there would be no memory for it.
  @Test func `holds none of a generated body`() throws {
    origin.on("/huge", .pattern(1 << 60))
    let client = try connected(origin, asking: "/huge")
    #expect(client.readHead().contains("Content-Length: \(1 << 60)\r\n"))
    #expect(BodyPattern.matches(client.read(1 << 20)))
  }

  @Test(arguments: [
    ("", "200", 0, 1_000), ("Range: bytes=600-\r\n", "206", 600, 400), ("Range: bytes=5-5\r\n", "206", 5, 1),
    ("Range: bytes=900-5000\r\n", "206", 900, 100), ("Range: bytes=1000-\r\n", "416", 0, 0),
    ("Range: bytes=600-\r\nIf-Range: \"a\"\r\n", "206", 600, 400),
    ("Range: bytes=600-\r\nIf-Range: \"b\"\r\n", "200", 0, 1_000), ("Range: lines=1-\r\n", "200", 0, 1_000),
  ]) func `answers ranges`(fields: String, status: String, from: Int, count: Int) throws {
    origin.on("/r") { .resumable(1_000, etag: "\"a\"", for: $0) }
    let client = try connected(origin, asking: "/r", fields: fields)
    let head = client.readHead()
    #expect(head.hasPrefix("HTTP/1.1 \(status) "))
    #expect(head.contains("Content-Length: \(count)\r\n"))
    if status == "206" { #expect(head.contains("Content-Range: bytes \(from)-\(from + count - 1)/1000\r\n")) }
    #expect(client.read(count) == BodyPattern.bytes(count, from: from))
  }

  @Test func `a limit may be as large as a number`() throws {
    var limits = OriginLimits()
    limits.headBytesMax = .max
    limits.headerFieldsMax = .max
    let origin = try ScriptedOrigin(limits: limits)
    origin.fallback(.text("hi"))
    let fields = (0..<2_000).map { "X-\($0): 1\r\n" }.joined()
    #expect(try connected(origin).answer(to: "/", fields: fields).body == "hi")
  }

  @Test func `serves two hundred connections at once`() throws {
    origin.fallback { .text("\($0.connection)") }
    let clients = try (0..<200).map { _ in try connected(origin) }
    for client in clients { client.ask("/") }
    #expect(Set(clients.map { $0.readAnswer().body }) == Set((0..<200).map(String.init)))
    #expect(origin.openConnections == 200)
  }

  @Test func `takes more connections only when there is room`() async throws {
    var limits = OriginLimits()
    limits.connectionsMax = 1
    let origin = try ScriptedOrigin(limits: limits)
    origin.fallback(.text("hi"))
    var first: RawClient? = try connected(origin)
    let second = try connected(origin)
    first?.ask("/")
    second.ask("/")
    #expect(first?.readAnswer().body == "hi")
    #expect(origin.connectionCount == 1)
    first = nil
    #expect(second.readAnswer().body == "hi")
  }
}
