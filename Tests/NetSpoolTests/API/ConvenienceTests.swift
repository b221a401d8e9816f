import Dispatch
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Calls as a user would guess them")
struct ConvenienceTests {
  @Test(arguments: ["/v1", "/v1/", ""]) func `an engine takes a base URL`(_ base: String) async throws {
    try await withEngine { _, origin in
      origin.fallback { .text($0.target) }
      let engine = try NetworkEngine(url: origin.url(base))
      let prefix = base.isEmpty ? "" : "/v1"
      #expect(try await engine.get("users").text == "\(prefix)/users")
      #expect(engine.host == "127.0.0.1" && engine.configuration.port == origin.port)
    }
  }

  @Test(arguments: ["ftp://x/", "x", "https://", "https://x/?a=1", "https://a:b@x/"])
  func `a base URL that cannot be used is refused`(_ url: String) {
    #expect(failure { _ = try NetworkEngine(url: url) }?.code == .invalidURL)
  }

  @Test func `every setting of a request is one of its operation`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .text("made", status: 503))
      let heard = Journal<Int>()
      let operation = engine.operation(path: "a").onAttempt { attempts, error in
        heard.add(attempts * 1_000 + (error.status ?? 0))
      }
      operation.retry = .attempts(3, pause: .zero)
      operation.headers["X-A"] = "1"
      operation.freezing.lane = "b"
      operation.cachePolicy = .reload
      #expect(operation.request.freezing.lane == "b" && operation.request.cachePolicy == .reload)
      let error = await #expect(throws: NetworkError.self) { try await engine.response(for: operation) }
      #expect(error?.status == 503 && error?.attempts == 3)
      #expect(heard.entries == [1_503, 2_503])
      #expect(origin.requests.map { $0.header("X-A") } == ["1", "1", "1"])
    }
  }

  @Test func `none is none, also where the engine would`() async throws {
    try await withEngine({ $0.retry = .attempts(3, pause: .zero) }) { engine, origin in
      origin.on("/busy", .status(503))
      origin.on("/from", .redirect(to: "/to"))
      origin.on("/to", .text("there"))
      let (once, twice) = (engine.operation(path: "busy"), engine.operation(path: "busy"))
      once.retry = .none
      twice.retry = .attempts(2, pause: .zero)
      for (operation, hits) in [(once, 1), (twice, 3), (engine.operation(path: "busy"), 6)] {
        await #expect(throws: NetworkError.self) { try await engine.response(for: operation) }
        #expect(origin.hits("/busy") == hits)
      }
      let settings: [(NetworkRequest.Redirects, Int?)] = [(.inherited, 200), (.none, 302), (.atMost(0), nil)]
      for (redirects, status) in settings {
        var request = NetworkRequest(path: "from")
        request.redirects = redirects
        let answer = try? await engine.response(for: request)
        #expect(answer?.status == status)
      }
      var changed = NetworkRequest(path: "from")
      changed.redirects.limit = 0
      #expect(changed.redirects.over(.standard).limit == 0)
    }
  }

  @Test func `what is given with a request makes it what it is`() async throws {
    #expect(NetworkRequest(path: "a", body: "text").method == .post)
    #expect(NetworkRequest(url: "http://a/", method: .get, body: "text").method == .get)
    #expect(NetworkRequest(path: "a").method == .get)
    var parameters: NetworkRequest.Parameters = ["a": 1, "b": 2, "a": 3]
    parameters["a"] = "4"
    parameters["c"] = "5"
    parameters["b"] = nil
    #expect(parameters == ["a": "4", "c": "5"])
    try await withEngine { engine, origin in
      origin.on(prefix: "/n") { .text("\($0.number)") }
      let seen = Journal<String>()
      let summary = await engine.prefetch(["n/1", origin.url("/n/2")]) { result in
        if case .success(let answer) = result.outcome { seen.add(answer.text ?? "") }
      }
      #expect(summary.succeeded == 2 && Set(seen.entries) == ["0", "1"])
    }
  }

  @Test func `a HEAD with a body is refused, and an answer from the cache has its progress`() async throws {
    try await withEngine { engine, origin in
      let head = NetworkRequest(path: "a", method: .head, body: "x")
      let error = await #expect(throws: NetworkError.self) { try await engine.response(for: head) }
      #expect(error?.code == .invalidRequest && error?.cause == .body && origin.requestCount == 0)
      let folder = try TestFolder()
      try engine.useCache(.patient(folder["cache"]))
      origin.on("/a", .text("hello").header("Cache-Control", "max-age=60"))
      let seen = Journal<Int64>()
      for source in [NetworkResponse.Source.network, .cache, .cache] {
        let operation = engine.operation(path: "a").onDownloadProgress { seen.add($0.done) }
        if seen.entries.count == 2 { operation.addDownloadStream(MemoryDownloadStream()) }
        #expect(try await engine.response(for: operation).source == source)
      }
      #expect(seen.entries == [5, 5, 5])
    }
  }

  @Test func `bodies are text, JSON or bytes of any kind`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a") { .text(($0.header("Content-Type") ?? "none") + " " + $0.text) }
      #expect(try await engine.post("a", body: "é").text == "text/plain; charset=utf-8 é")
      let answer = try await engine.put("a", body: .json(#"{"a":1}"#))
      #expect(answer.isSuccess && answer.text == #"application/json {"a":1}"#)
      #expect(origin.requests.last?.json?["a"] == 1)
      #expect(try await engine.post("a", body: .data("abc".utf8, contentType: "a/b")).text == "a/b abc")
      var pieces = ""
      for try await piece in try await engine.stream("a", headers: ["Content-Type": "c/d"]).body {
        pieces += String(decoding: piece, as: UTF8.self)
      }
      #expect(pieces == "c/d ")
    }
  }

  @Test func `fields and limits of one call go with it`() async throws {
    try await withEngine { (engine, origin) async throws in
      origin.on("/held", .noAnswer)
      origin.on("/a") { .text($0.header("X-A") ?? "none") }
      #expect(try await engine.get("a", headers: ["X-A": "1"]).text == "1")
      for (limits, cause) in [
        (NetworkRequest.Timeouts(headers: .milliseconds(50)), NetworkError.Cause.headers),
        (.init(total: .milliseconds(50)), .total),
      ] {
        let error = await #expect(throws: NetworkError.self) {
          try await engine.get("held", timeouts: limits)
        }
        #expect(error?.code == .timedOut && error?.cause == cause && error?.reason == cause.description)
      }
    }
  }

  @Test func `numbers and booleans are parameters`() async throws {
    try await withEngine { engine, origin in
      origin.fallback { .text($0.query ?? "") }
      let text = "map"
      let answer = try await engine.get("a", parameters: ["q": text, "page": 2, "exact": true, "x": 0.5])
      #expect(answer.text == "q=map&page=2&exact=true&x=0.5")
      #expect(await engine.end(of: engine.operation(path: "a").addParameter("page", 3)).text == "page=3")
    }
  }

  @Test(arguments: ["7?a=1", "a/b", "../x", "%2e%2e", "é #"])
  func `a component of a path stays in its place`(_ id: String) async throws {
    try await withEngine { engine, origin in
      origin.fallback { .text("\($0.method) \($0.target)") }
      let text = await engine.end(of: engine.operation(path: ["users", id, 1])).text ?? ""
      #expect(text.hasPrefix("GET /users/") && text.hasSuffix("/1"))
      let path: [any LosslessStringConvertible] = ["users", id, 1]
      let answers = [
        try await engine.get(path: path), try await engine.post(path: path), try await engine.put(path: path),
        try await engine.patch(path: path), try await engine.delete(path: path),
      ]
      for (answer, method) in zip(answers, ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
        #expect(answer.string == "\(method)\(text.dropFirst(3))")
      }
      #expect(text.split(separator: "/").count == 4 && !text.contains("?"))
    }
  }

  @Test func `a path of components takes parameters, a body and fields`() async throws {
    try await withEngine { engine, origin in
      origin.fallback {
        .text("\($0.target) \($0.header("A") ?? "") \(String(decoding: $0.body, as: UTF8.self))")
      }
      let put = try await engine.put(path: ["a b"], body: .text("x"), headers: ["A": "1"])
      #expect(put.text == "/a%20b 1 x")
      #expect(
        try await engine.get(path: ["a"], parameters: ["q": 1], headers: ["A": "1"]).text == "/a?q=1 1 ")
      #expect(try await engine.post(path: ["a"], parameters: ["q": 1]).text == "/a  q=1")
    }
  }

  @Test(arguments: [".", "..", ""])
  func `a component that names no resource is refused`(_ id: String) async throws {
    try await withEngine { engine, origin in
      #expect(await engine.end(of: engine.operation(path: ["users", id])).code == .invalidURL)
      #expect(origin.connectionCount == 0)
    }
  }

  @Test func `a body is a collection of its bytes`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .text("hello"))
      let body = try await engine.get("a").body
      #expect(
        Array(body) == Array("hello".utf8) && body[1] == UInt8(ascii: "e") && body.last == UInt8(ascii: "o"))
      #expect(String(decoding: body, as: UTF8.self) == "hello" && body.count == 5 && !body.isEmpty)
      #expect(body.reversed().elementsEqual("olleh".utf8))
    }
  }

  @MainActor @Test func `closures on the main queue are on the main actor`() async throws {
    let story = Journal<String>()
    let origin = try ScriptedOrigin()
    origin.on("/a", .text("hello"))
    var configuration = NetworkEngine.Configuration()
    configuration.delivery = .queue(.main)
    let engine = try NetworkEngine(url: origin.url(""), configuration: configuration)
    await withCheckedContinuation { continuation in
      let operation = engine.operation(path: "a")
      operation.onDownloadProgress { progress in
        MainActor.assumeIsolated { story.add("\(progress.done)") }
      }
      operation.onCompletion { response in
        MainActor.assumeIsolated { story.add(response.text ?? "") }
        continuation.resume()
      }
      engine.enqueue(operation)
    }
    #expect(story.entries.last == "hello" && story.entries.dropLast().allSatisfy { $0 == "5" })
  }

  @Test func `a download is one line`() async throws {
    let folder = try TestFolder()
    try await withEngine { engine, origin in
      origin.on("/a", .text("hello"))
      let progress = Journal<Int64>()
      try await engine.download("a", to: folder.path + "/1") { progress.add($0.done) }
      #expect(try TestFiles.text(folder.path + "/1") == "hello" && progress.entries.last == 5)
      try await engine.download("a?from=https://example.org", to: folder.path + "/3")
      #expect(origin.requests.last?.target == "/a?from=https://example.org")
      let done = Latch()
      engine.download(
        origin.url("/a"), to: folder.path + "/2", onCompletion: { _ in done.open() }, onError: { _ in })
      await done.opened()
      #expect(try TestFiles.text(folder.path + "/2") == "hello")
    }
  }
}

@Suite("An operation runs once")
struct AgainTests {
  @Test func `a finished operation is an error, and a fresh one of it is sent`() async throws {
    let failures = Journal<String>()
    let told = Latch()
    try await withEngine({ configuration in
      configuration.prepare = { $0.headers.add("X-Prepared", "yes") }
      configuration.onUnhandledFailure = { error in
        failures.add("\(error.code) \(error.reason ?? "")")
        told.open()
      }
    }) { engine, origin in
      origin.on("/a", .status(500))
      let operation = engine.operation(path: "a", parameters: ["q": "1"]).setHeader("X-A", "1").onError { _ in
      }
      #expect(await engine.end(of: operation).code == .status)
      engine.enqueue(operation)
      await told.opened()
      #expect(failures.entries == ["invalidRequest enqueued"] && origin.hits("/a") == 1)
      origin.on("/a", .text("ok"))
      #expect(await engine.end(of: operation.again()).text == "ok")
      let (first, second) = (origin.requests[0], origin.requests[1])
      #expect(first.target == second.target && second.header("X-A") == "1")
      #expect(second.headers.all("X-Prepared") == ["yes"])
    }
  }

  @Test func `waiting for an operation that has ended gives its answer`() async throws {
    try await withEngine { (engine, origin) async throws in
      origin.on("/a", .text("ok"))
      let operation = engine.operation(path: "a")
      for _ in 0..<2 { #expect(try await engine.response(for: operation).text == "ok") }
      #expect(origin.hits("/a") == 1)
    }
  }
}

@Suite("Limits of time that a request sets")
struct OwnTimeoutsTests {
  @Test func `limits that a request does not set are its engine's`() {
    let engine = NetworkRequest.Timeouts(total: .seconds(5), queueDeadline: .seconds(2))
    var own = NetworkRequest.Timeouts(attempt: .seconds(1), reader: .seconds(2), queueDeadline: .seconds(3))
    #expect(own.attempt == .seconds(1) && own.total == .seconds(60) && own.stall == .seconds(30))
    #expect(own.over(engine).queueDeadline == .seconds(3))
    own.headers = .seconds(1)
    own.queueDeadline = nil
    let limits = own.over(engine)
    #expect(limits.headers == .seconds(1) && limits.total == .seconds(5))
    #expect(limits.attempt == .seconds(1) && limits.reader == .seconds(2))
    #expect(limits.queueDeadline == nil && limits.connect == .seconds(10))
  }

  @Test func `an engine's limit holds where a request sets another`() async throws {
    try await withEngine({ $0.timeouts.total = .milliseconds(100) }) { engine, origin in
      origin.on("/held", .noAnswer)
      let operation = engine.operation(path: "held")
      operation.timeouts.connect = .seconds(20)
      #expect(await engine.end(of: operation).reason == "total")
    }
  }
}

@Suite("Forms with files")
struct FormOrderTests {
  @Test func `fields go before files, in their order`() async throws {
    let folder = try TestFolder()
    let path = try folder.write("map.png", "PNG")
    try await withEngine { engine, origin in
      origin.on("/a", .text("ok"))
      let operation = engine.operation(path: "a", method: .post, parameters: ["title": "Map", "page": 1])
      operation.addFile(path, forKey: "file").addParameter("last", "yes")
      #expect(await engine.end(of: operation).text == "ok")
      let text = try #require(origin.requests.first?.text)
      let names = text.split(separator: "name=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
      #expect(names.filter { !$0.contains(".") } == ["title", "page", "last", "file"])
    }
  }

  @Test func `a whole URL in place of a path is refused, and never asked of the own host`() async throws {
    try await withEngine { engine, origin in
      origin.fallback(.text("own"))
      for path in [origin.url("/a"), "HTTPS://example.org/b", "http://"] {
        for operation in [engine.operation(path: path), engine.operation(NetworkRequest(path: path))] {
          let error = await engine.end(of: operation).error
          #expect(error?.code == .invalidURL && error?.reason?.contains("NetworkRequest(url:)") == true)
        }
      }
      #expect(origin.requests.isEmpty)
      #expect(await engine.end(of: engine.operation(path: "httpx://a")).text == "own")
    }
  }

  @Test func `an engine without a host takes whole URLs in place of paths`() async throws {
    try await withQueue { queue in
      let origin = try ScriptedOrigin()
      origin.fallback(.text("there"))
      let engine = try NetworkEngine(on: queue)
      let answer = try await engine.get(origin.url("/a"), parameters: ["q": 1])
      #expect(answer.text == "there" && origin.requests.map(\.target) == ["/a?q=1"])
      let pathless = await engine.end(of: engine.operation(path: "a"))
      #expect(pathless.code == .invalidURL && pathless.reason == "noHost")
    }
  }

  @Test func `parameters and fields come from dictionaries, by name`() {
    let pairs = ["b": "2", "a": "1"]
    #expect(NetworkRequest.Parameters(pairs) == ["a": "1", "b": "2"])
    #expect(NetworkRequest.Headers(pairs).map(\.name) == ["a", "b"])
  }

  @Test func `a file is published with its digest and with no other`() async throws {
    try await withEngine { engine, origin in
      origin.fallback(.text("hello"))
      let folder = try TestFolder()
      let digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
      for (name, digest) in [("right", digest), ("wrong", String(digest.reversed()))] {
        let stream = FileDownloadStream(path: folder[name], sha256: digest)
        let end = await engine.end(of: engine.operation(path: name).addDownloadStream(stream))
        #expect(end.error?.code == (name == "wrong" ? .digestMismatch : nil))
      }
      // Another stream may wrap it
      for (name, digest) in [("inside", digest), ("wrong inside", String(digest.reversed()))] {
        let inside = FileDownloadStream(path: folder[name], sha256: digest)
        let around = WrappingStream(inside)
        _ = await engine.end(of: engine.operation(path: "right").addDownloadStream(around))
      }
      #expect(folder.names.sorted() == ["inside", "right"])
      let asked = origin.requestCount
      for text in ["", "zz", String(digest.dropLast()), digest + "00"] {
        await #expect { try await engine.download("a", to: folder["a"], sha256: text) } throws: {
          ($0 as? NetworkError)?.code == .invalidRequest
        }
      }
      #expect(origin.requestCount == asked && folder.names.sorted() == ["inside", "right"])
    }
  }

  @Test func `progress says nothing is whole that is not`() async throws {
    try await withEngine { engine, origin in
      origin.on("/cut", Answer.pattern(50_000).framed(.chunked(size: 1_000)).closeAfter(20_000))
      origin.on("/form", .redirect(to: "/done", status: 303))
      origin.on("/done", .text("done"))
      let (received, sent) = (Journal<Double?>(), Journal<Int64>())
      let cut = engine.operation(path: "cut").onDownloadProgress { received.add($0.fraction) }
      #expect(await engine.end(of: cut).error != nil)
      #expect(!received.entries.isEmpty && received.entries.allSatisfy { $0 == nil })
      let form = engine.operation(path: "form", method: .post).setBody(.bytes([1, 2, 3]))
      #expect(await engine.end(of: form.onUploadProgress { sent.add($0.done) }).text == "done")
      #expect(sent.entries.last == 3)
    }
  }
}

/// Hands everything on.
private final class WrappingStream: DownloadStream {
  private let inside: FileDownloadStream

  init(_ inside: FileDownloadStream) { self.inside = inside }

  func open(_ head: ResponseHead, bytesExpected: Int64?) throws {
    try inside.open(head, bytesExpected: bytesExpected)
  }

  func write(_ bytes: RawSpan) throws -> WriteResult { try inside.write(bytes) }
  func close(_ outcome: Result<Void, NetworkError>) { inside.close(outcome) }
}
