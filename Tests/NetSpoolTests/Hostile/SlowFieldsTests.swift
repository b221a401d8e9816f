import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Fields full of combining marks, which `String` and `Character` put in order before they compare them: 60 KiB keep them
/// busy for a second.
@Suite("Fields that are slow to compare", .ownThreads, .measured)
struct SlowFieldsTests {
  private static func marks(_ bytes: Int) -> String { String(repeating: "\u{300}\u{316}", count: bytes / 4) }

  /// `@` stands for the marks.
  @Test(arguments: [
    (200, "X-Other: @"), (200, "Content-Encoding: @"), (200, "Content-Encoding: gzip, @"),
    (200, "Transfer-Encoding: chunked, @"), (200, "Content-Type: text/@"),
    (200, "Cache-Control: max-age=1, @"),
    (200, "Vary: @"), (200, "ETag: \"@\""), (200, "Content-Location: @"), (503, "Retry-After: @"),
    (302, "Location: /@"), (401, "WWW-Authenticate: Digest realm=r, nonce=n, algorithm=\"@\""),
    (401, "WWW-Authenticate: Digest realm=r, nonce=n, qop=\"@\""),
    (401, "WWW-Authenticate: Digest realm=r, nonce=n, stale=\"@\""), (200, "Set-Cookie: a=@"),
  ])
  func `keep the loop no longer than others`(status: Int, field: String) async throws {
    // A Location and a cookie have limits of their own, and of cookies many are kept.
    let (bytes, count) =
      field.hasPrefix("Set-Cookie") ? (3_900, 30) : field.hasPrefix("Location") ? (8_000, 1) : (60_000, 1)
    let line = field.replacing("@", with: Self.marks(bytes))
    let lines = count == 1 ? [line] : (0..<count).map { "Set-Cookie: a\($0)=\(Self.marks(bytes))" }
    try await withWire({ ($0.cookies, $0.retry) = (.inMemory, .none) }, alone: true) { wire in
      let head = "HTTP/1.1 \(status) X\r\n\(lines.joined(separator: "\r\n"))\r\nConnection: close\r\n\r\n"
      wire.origin.on("/", .raw(head))
      var request = NetworkRequest(url: wire.origin.url("/"))
      request.credentials = .digest(user: "user", password: "secret")
      let clock = await LoopClock(wire.queue)
      let ending = await wire.engine.end(of: wire.engine.operation(request))
      expect(await clock.longestTurn, within: workMax, "\(String(describing: ending.code))")
    }
  }

  /// Thousands of names, each held against each field.
  @Test(arguments: ["no-cache", "private"]) func `keep no cache`(directive: String) throws {
    var fields = Headers()
    let names = (0..<10_000).map { "n\($0)" }.joined(separator: ",")
    fields.append(name: "Cache-Control", value: "max-age=60, \(directive)=\"\(names)\"")
    for number in 0..<250 { fields.append(name: "n\(number * 2)", value: "1") }
    let exchange = StoreDecision.Exchange(
      request: CacheRequest(), requestHeaders: Headers(),
      head: ResponseHead(version: .http11, status: 200, headers: fields), requestedAt: 0, receivedAt: 0,
      isComplete: true)
    var rules = CacheRules.standard
    rules.isShared = true
    var entry: StoredResponse?
    let time = work { entry = StoreDecision.entry(exchange, rules: rules) }
    let served = try #require(entry).servedHeaders(age: 0)
    #expect(!served.contains("n2") && !served.contains("n498"))
    expect(time, within: .milliseconds(500))
  }

  @Test func `keep no reader of a text or of events`() throws {
    let marks = Self.marks(60_000)
    var parser = ServerEventParser()
    let time = try work {
      #expect(TextDecoding(label: marks) == nil)
      _ = try parser.take(marks)
      _ = try parser.take("data: \(marks)")
      #expect(Redaction.standard.url("http://a/?\(marks)=1").utf8.count == marks.utf8.count + 12)
      #expect(Redaction.standard.header(name: "X", value: marks).utf8.count == marks.utf8.count)
    }
    expect(time, within: .milliseconds(200))
  }

  /// A place that might begin an authority, thousands of times, and no `@` behind any of them.
  @Test func `keep a URL that needs no mask`() throws {
    let url = "/@" + String(repeating: "://a:b/", count: 20_000)
    var shown = ""
    let time = work { shown = Redaction.standard.url(url) }
    #expect(shown.utf8.count == url.utf8.count)
    expect(time, within: .milliseconds(500))
  }

  @Test func `a refusal of credentials shows no secret of its URL`() {
    let answer = NetworkResponse(
      head: ResponseHead(version: .http11, status: 401, headers: [:]), body: ResponseBytes([]),
      source: .network, finalURL: "http://h/?token=SECRET", metrics: NetworkResponse.Metrics(), streams: [])
    let refusal = NetworkCredentials.Refusal(url: "http://h/?token=SECRET", method: .get, response: answer)
    var text = "\(refusal) \(String(reflecting: refusal))"
    dump(refusal, to: &text)
    #expect(!text.contains("SECRET") && text.contains("401"))
  }
}
