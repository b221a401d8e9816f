import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// What arrives at the origin.
struct RequestTests {
  @Test func `the engine's headers go with every request, and the request's own win`() async throws {
    try await withEngine({ $0.headers = ["X-Engine": "engine", "X-Both": "engine"] }) { engine, origin in
      origin.on("/a", .text("ok"))
      _ = await engine.end(of: engine.operation(path: "/a").setHeader("x-both", "own"))
      _ = await engine.end(of: engine.operation(url: origin.url("/a?absolute")))
      let requests = origin.requests
      #expect(requests[0].header("X-Engine") == "engine")
      #expect(requests[0].headers.all("X-Both") == ["own"])
      #expect(requests[1].header("X-Engine") == "engine")
      #expect(requests[1].headers.all("X-Both") == ["engine"])
    }
  }

  @Test(arguments: ["Host", "Accept"])
  func `a field of which there is one goes out once`(name: String) async throws {
    try await withEngine({ $0.headers = [name: "of.the/engine"] }) { engine, origin in
      origin.fallback(.text("ok"))
      _ = await engine.end(of: engine.operation(path: "/a"))
      _ = await engine.end(of: engine.operation(path: "/a").setHeader(name.lowercased(), "of.the/request"))
      _ = await engine.end(of: engine.operation(path: "/a"))
      let sent = origin.requests.map { $0.headers.all(name) }
      #expect(sent == [["of.the/engine"], ["of.the/request"], ["of.the/engine"]])
    }
  }

  @Test func `User-Agent names the process and its version unless the engine names another`() async throws {
    try await withEngine({ $0.applicationVersion = "2.5" }) { engine, origin in
      origin.on("/a", .text("ok"))
      _ = await engine.end(of: engine.operation(path: "/a"))
      _ = await engine.end(of: engine.operation(path: "/a").setHeader("User-Agent", "me"))
      #expect(origin.requests[0].header("User-Agent")?.hasSuffix("/2.5") == true)
      #expect(origin.requests[0].header("User-Agent")?.lowercased().contains("curl") == false)
      #expect(origin.requests[1].headers.all("User-Agent") == ["me"])
    }
  }

  @Test(arguments: ["1.0\n", "1\r\nX-Injected: 2", "1\0"])
  func `a version with a line end is refused by name`(_ version: String) {
    let error = NetworkEngine.refusal { $0.applicationVersion = version }
    #expect(error?.code == .invalidConfiguration && error?.reason == "applicationVersion")
  }

  @Test(
    arguments: [
      (.get, "/a", "/a?x=1&y=a%20b", ""), (.get, "/a?z=0", "/a?z=0&x=1&y=a%20b", ""),
      (.head, "/a", "/a?x=1&y=a%20b", ""), (.delete, "/a", "/a?x=1&y=a%20b", ""),
      (.options, "/a", "/a?x=1&y=a%20b", ""), (.post, "/a", "/a", "x=1&y=a+b"),
      (.put, "/a", "/a", "x=1&y=a+b"), (.patch, "/a?z=0", "/a?z=0", "x=1&y=a+b"),
    ] as [(NetworkRequest.Method, String, String, String)])
  func `parameters go to the query or to the body, by the method`(
    method: NetworkRequest.Method, path: String, target: String, body: String
  ) async throws {
    try await withEngine { engine, origin in
      origin.fallback(.text("ok"))
      let operation = engine.operation(path: path, method: method, parameters: ["x": "1"])
        .addParameter("y", "a b")
      #expect(await engine.end(of: operation).response?.status == 200)
      let request = try #require(origin.requests.first)
      #expect(request.method == method.description && request.target == target && request.text == body)
      let isForm = request.header("Content-Type") == "application/x-www-form-urlencoded"
      #expect(isForm == !body.isEmpty)
    }
  }

  @Test(arguments: [
    ("", nil, "/"), ("", "/", "/"), ("", "a", "/a"), ("", "/a", "/a"), ("api", nil, "/api"),
    ("/api", "a/b", "/api/a/b"), ("/api/", "/a", "/api/a"), ("api/v1/", "a?x=1", "/api/v1/a?x=1"),
    ("", "a b", "/a%20b"), ("", "ä", "/%C3%A4"), ("", "a/../b", "/b"),
  ]) func `paths are joined with single slashes`(base: String, path: String?, target: String) async throws {
    try await withEngine({ $0.basePath = base }) { engine, origin in
      origin.fallback(.text("ok"))
      #expect(await engine.end(of: engine.operation(path: path)).text == "ok")
      #expect(origin.requests.first?.target == target)
    }
  }

  @Test(arguments: [("?back=/home", "/?back=/home"), ("/#part/a", "/"), ("#part/a", "/"), ("//a", "//a")])
  func `a query or a fragment with slashes is told from a path`(rest: String, target: String) async throws {
    try await withEngine { engine, origin in
      origin.fallback(.text("ok"))
      let operation = engine.operation(url: "http://127.0.0.1:\(origin.port)\(rest)")
      #expect(await engine.end(of: operation).text == "ok")
      #expect(origin.requests.first?.target == target)
    }
  }

  @Test(arguments: [
    "", "example.org", "ftp://example.org/", "file:///etc/passwd", "http://", "http://?a", "http://a b/",
    "http://exa\nmple.org/", "http://example.org:99999/", "//example.org/",
    "http://example.org/" + String(repeating: "a", count: 8192),
  ]) func `an unusable URL fails when it is enqueued, and does not trap`(url: String) async throws {
    try await withEngine { engine, _ in
      let operation = engine.operation(url: url)
      #expect(operation.state == .ready)
      #expect(await engine.end(of: operation).code == .invalidURL)
      #expect(!engine.configuration.queue.activity.isBusy, "what was refused is counted")
    }
  }

  @Test(arguments: [
    ("GET", "X-A", "b\r\nX-Evil: 1"), ("GET", "X-A", "b\nX-Evil: 1"), ("GET", "X-A", "b\0c"),
    ("GET", "X-A\r\nX-Evil", "b"), ("GET", "X A", "b"), ("GET", "", "b"), ("GET", "X:A", "b"),
    ("GET", "Content-Length", "5"), ("GET", "Transfer-Encoding", "chunked"), ("G T", "X-A", "b"),
    ("GET /evil HTTP/1.1\r\n\r\n", "X-A", "b"), ("", "X-A", "b"), ("CONNECT", "X-A", "b"),
    ("GE\u{7F}T", "X-A", "b"), ("GÄT", "X-A", "b"), ("GET\r\n", "X-A", "b"), ("G\0", "X-A", "b"),
    ("GET:", "X-A", "b"),
  ])
  func `a header or a method that would change the message is refused, and no byte is sent`(
    method: String, name: String, value: String
  ) async throws {
    try await withEngine { engine, origin in
      let operation = engine.operation(path: "/a", method: NetworkRequest.Method(method))
      let ending = await engine.end(of: operation.addHeader(name, value))
      #expect(ending.code == .invalidRequest && (method == "GET" || ending.reason == "method"))
      #expect(origin.connectionCount == 0)
    }
  }

  @Test func `user and password of a URL become a credential and are shown nowhere`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .status(500))
      let url = "http://user:secret@127.0.0.1:\(origin.port)/a"
      let operation = engine.operation(url: url)
      let ending = await engine.end(of: operation)
      #expect(origin.requests.first?.header("Authorization") == "Basic dXNlcjpzZWNyZXQ=")
      #expect(origin.requests.first?.target == "/a")
      #expect(ending.error?.description.contains("secret") == false)
      #expect(ending.error?.response?.finalURL.contains("secret") == false)
      #expect(operation.description.contains("secret") == false)
    }
  }

  @Test func `a setting out of its range is refused when the engine is made`() throws {
    let changes: [(inout NetworkEngine.Configuration) -> Void] = [
      { $0.port = 0 }, { $0.port = 65_536 }, { $0.timeouts.connect = .seconds(0) },
      { $0.timeouts.total = .seconds(-1) },
      { $0.timeouts.headers = .zero }, { $0.timeouts.queueDeadline = .zero },
      { $0.headers = ["X A": "b"] }, { $0.receiveBufferBytes = 1 }, { $0.originPauseMax = .milliseconds(-1) },
      { $0.limits.bodyBytesStreamedMax = -1 },
      { $0.headers = ["Content-Length": "5"] }, { $0.headers = ["transfer-encoding": "chunked"] },
    ]
    for (index, change) in changes.enumerated() {
      #expect(NetworkEngine.refusal(change)?.code == .invalidConfiguration, "change \(index)")
    }
  }

  @Test(arguments: [
    "", "a b", "a/b", "user@a", "exam\nple", "a?b", "a#b", "127.0.0.1:80#x", "a:b:c", "[::1", "[::1]x",
    String(repeating: "a", count: 300), "https://a", "::1]", "256.1.1.1.1:",
  ])
  func `an unusable host is refused when the engine is made`(host: String) throws {
    #expect(failure { _ = try NetworkEngine(host: host) }?.code == .invalidConfiguration)
  }

  @Test(arguments: [
    ("x:80", "port:"), ("127.0.0.1:8080", "port:"), ("[::1]:80", "port:"), ("x:", "port:"),
    ("https://x", "url:"), ("api.example.org/v2", "url:"),
  ])
  func `a host with more than a host is told where that goes`(host: String, place: String) throws {
    #expect(failure { _ = try NetworkEngine(host: host) }?.reason?.contains(place) == true)
  }

  @Test(arguments: ["x", "x.example.", "127.0.0.1", "::1", "[::1]", "fe80::1%eth0", "exam%70le.org"])
  func `a usable host is taken`(host: String) throws { #expect(try NetworkEngine(host: host).host == host) }

  @Test func `a limit of a request out of its range ends it`() async throws {
    try await withEngine { engine, origin in
      let operation = engine.operation(path: "/a")
      operation.timeouts = .init(total: .seconds(0))
      #expect(await engine.end(of: operation).code == .invalidConfiguration)
      #expect(origin.connectionCount == 0)
    }
  }
}
