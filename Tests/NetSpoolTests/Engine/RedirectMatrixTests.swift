import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Redirects, method by status (RFC 9110 section 15.4)")
struct RedirectMatrixTests {
  struct Cell: Sendable, CustomTestStringConvertible {
    let method: String
    let status: Int
    var testDescription: String { "\(method) \(status)" }
    var hasBody: Bool { ["POST", "PUT", "PATCH"].contains(method) }

    /// The method of the second request; nil when there must be none.
    var next: String? {
      switch (status, method) {
      case (307, _), (308, _): method
      case (303, "HEAD"): "HEAD"
      case (303, _): "GET"
      case (_, "POST"): "GET"
      case (_, "PUT"), (_, "PATCH"): nil  // without its body it would empty what it should fill
      default: method
      }
    }
  }

  static let cells = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].flatMap { method in
    [301, 302, 303, 307, 308].map { Cell(method: method, status: $0) }
  }

  @Test(arguments: cells) func `follows by the table`(_ cell: Cell) async throws {
    try await withWire { wire in
      wire.origin.on("/a", .redirect(to: "/b", status: cell.status))
      wire.origin.on("/b", .text("there"))
      let operation = wire.operation("/a", NetworkRequest.Method(cell.method)).setHeader("X-Own", "kept")
      if cell.hasBody { operation.setBody(.bytes(Array("body".utf8), contentType: "text/x-test")) }
      let result = await wire.result(of: operation)
      guard let method = cell.next else {
        #expect(result.code == .redirectRefused && result.reason == "body" && wire.origin.requestCount == 1)
        return
      }
      let answer = try result.get()
      #expect(answer.status == 200 && answer.finalURL == wire.origin.url("/b"))
      #expect(answer.metrics.redirects == 1)
      let second = try #require(wire.origin.requests.last)
      #expect(second.method == method && second.path == "/b" && second.header("X-Own") == "kept")
      let resends = cell.hasBody && cell.status >= 307
      #expect(second.text == (resends ? "body" : ""))
      #expect(second.header("Content-Type") == (resends ? "text/x-test" : nil))
    }
  }

  @Test(arguments: [300, 304, 305, 306, 399])
  func `takes other statuses for the answer`(_ status: Int) async throws {
    try await withWire { wire in
      wire.origin.on("/a", .redirect(to: "/b", status: status))
      let operation = wire.operation("/a").setHeader("If-None-Match", "\"a\"")
      let tally = Tally()
      tally.watch(operation)
      let got = try await wire.answer(operation)
      #expect(got.status == status)
      #expect(wire.origin.requestCount == 1 && tally.ended == 1)
    }
  }

  @Test func `follows none when told so`() async throws {
    try await withWire({ $0.redirects = .none }) { wire in
      wire.origin.on("/a", .redirect(to: "/b"))
      let answer = try await wire.answer(wire.operation("/a"))
      #expect(answer.status == 302 && answer.headers["Location"] == "/b" && wire.origin.requestCount == 1)
    }
  }

  @Test(arguments: [(3, 3), (3, 4), (10, 10), (10, 11)])
  func `ends a chain at the limit`(_ limit: Int, _ hops: Int) async throws {
    try await withWire({ $0.redirects = .atMost(limit) }) { wire in
      for hop in 0..<hops { wire.origin.on("/\(hop)", .redirect(to: "/\(hop + 1)")) }
      wire.origin.on("/\(hops)", .text("there"))
      let result = await wire.result(of: wire.operation("/0"))
      #expect(wire.origin.requestCount == limit + 1)
      #expect(hops <= limit ? result.text == "there" : result.code == .tooManyRedirects)
    }
  }

  @Test(arguments: [
    ("d", "/a/b/d"), ("./d", "/a/b/d"), ("../d", "/a/d"), ("/d", "/d"), ("?x=1", "/a/b/c?x=1"),
    ("d?x=1#part", "/a/b/d?x=1"), ("../../../d", "/d"), ("d e", "/a/b/d%20e"),
    ("%C3%BC%c3?%C3", "/a/b/%C3%BC%c3?%C3"),
  ])
  func `resolves references`(_ location: String, _ target: String) async throws {
    try await withWire { wire in
      wire.origin.enqueue(.redirect(to: location))
      wire.origin.fallback(.text("there"))
      let answer = try await wire.answer(wire.operation("/a/b/c?q=1"))
      #expect(wire.origin.requests.last?.target == target)
      #expect(answer.finalURL == wire.origin.url(target))
    }
  }

  @Test func `does not send a one-shot stream twice`() async throws {
    let stream = ScriptedUpload([.bytes(Array("once".utf8))], isReopenable: false)
    try await withWire { wire in
      wire.origin.on("/a", .redirect(to: "/b", status: 307))
      wire.origin.on("/b", .text("there"))
      let error = try await wire.failure(wire.operation("/a", .post).setUploadStream(stream))
      #expect(error.code == .redirectRefused && error.reason == "body" && wire.origin.requestCount == 1)
    }
    #expect(stream.opens == 1 && stream.closes == 1)
  }

  @Test func `sends a reopenable stream again`() async throws {
    let stream = ScriptedUpload([.bytes(Array("again".utf8))], length: 5)
    try await withWire { wire in
      wire.origin.on("/a", .redirect(to: "/b", status: 308))
      wire.origin.on("/b", .text("there"))
      _ = try await wire.answer(wire.operation("/a", .put).setUploadStream(stream))
      #expect(wire.origin.requests.map(\.text) == ["again", "again"])
    }
    #expect(stream.opens == 2 && stream.closes == 2)
  }
}
