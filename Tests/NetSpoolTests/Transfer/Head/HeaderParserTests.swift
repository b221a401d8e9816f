import Testing

@testable import NetSpool
@testable import TestSupport

/// What a well-formed answer becomes (RFC 9112 sections 4 and 5).
struct HeaderParserTests {
  @Test func `a head keeps its fields in order and repeated`() throws {
    var parser = HeaderParser()
    let said = try feed(
      &parser, "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nX-Empty:\r\nset-cookie:b=2\r\nX:  padded\t \r\n\r\n")
    #expect(said == [.head(200, ["Set-Cookie: a=1", "X-Empty: ", "set-cookie: b=2", "X: padded"])])
    #expect(parser.isHeadComplete)
  }

  static let statusLines: [(String, Int, ResponseHead.Version)] = [
    ("HTTP/1.1 200 OK", 200, .http11), ("HTTP/1.0 404 Not Found", 404, .http10),
    ("HTTP/1.1 200 ", 200, .http11), ("HTTP/1.1 204", 204, .http11), ("HTTP/2 200 ", 200, .http2),
    ("HTTP/3 599 ", 599, .http3), ("HTTP/1.1 600 Beyond", 600, .http11), ("HTTP/2 999 ", 999, .http2),
    ("HTTP/1.1 500 \u{DF}\u{E9}", 500, .http11),
  ]

  @Test(arguments: statusLines)
  func `a status line is read`(_ line: String, status: Int, version: ResponseHead.Version) throws {
    var parser = HeaderParser()
    try deliver(line + "\r\n", to: &parser)
    guard case .head(let head) = try deliver("\r\n", to: &parser) else { throw PartFailure("no head") }
    #expect(head.status == status)
    #expect(head.version == version)
  }

  @Test func `bare line feed ends a line`() throws {
    var parser = HeaderParser()
    #expect(try feed(&parser, "HTTP/1.1 200 OK\nA: b\n\n") == [.head(200, ["A: b"])])
  }

  /// RFC 9112 section 5.2.
  @Test(arguments: [
    ("X: a\r\n b\r\n", "X: a b"), ("X: a\r\n\t  b \r\n c\r\n", "X: a b c"), ("X:\r\n b\r\n", "X: b"),
    ("X: a\r\n \r\n", "X: a"), ("X: a \n b\n", "X: a b"),
  ])
  func `a fold becomes one space`(_ folded: String, line: String) throws {
    var parser = HeaderParser()
    let said = try feed(&parser, "HTTP/1.1 200 OK\r\n" + folded + "Y: z\r\n\r\n")
    #expect(said == [.head(200, [line, "Y: z"])])
  }

  @Test func `informational heads come before the final one`() throws {
    var parser = HeaderParser()
    let hints = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    let said = try feed(&parser, hints + "HTTP/1.1 200 OK\r\nA: b\r\n\r\n")
    #expect(said == [.informational(100), .informational(103), .head(200, ["A: b"])])
  }

  /// RFC 9110 section 15.2: nothing in an informational head is about the final answer.
  @Test func `fields of an informational head are its own`() throws {
    var parser = HeaderParser()
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n ;rel=preload\r\nContent-Length: 5\r\n"
    #expect(try feed(&parser, hints).isEmpty)
    let event = try deliver("\r\n", to: &parser)
    guard case .informational(let head) = event else { throw PartFailure("not told of") }
    #expect(lines(of: head.headers) == ["Link: </a> ;rel=preload", "Content-Length: 5"])
    #expect(try feed(&parser, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").count == 1)
    #expect(parser.framing.isChunked && parser.framing.contentLength == nil)
  }

  @Test func `a reply to connect is skipped`() throws {
    // Given a proxy that first wants a password
    var parser = HeaderParser()
    parser.expectsConnectReply = true
    // When it lets us through, with fields that mean nothing there (RFC 9110 section 9.3.6)
    let refusal = "HTTP/1.1 407 Who\r\nContent-Length: 5\r\n\r\n"
    let leave = "HTTP/1.1 200 Go\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    let said = try feed(&parser, refusal + leave + "HTTP/1.1 201 Made\r\nA: b\r\n\r\n")
    // Then the origin's head is the one that counts
    #expect(said == [.connectReply(407), .connectReply(200), .head(201, ["A: b"])])
    #expect(!parser.expectsConnectReply)
    #expect(parser.framing.contentLength == nil)
  }

  @Test func `fields after the body are trailers`() throws {
    var parser = HeaderParser()
    let said = try feed(&parser, "HTTP/1.1 200 OK\r\nA: b\r\n\r\nContent-Length: 7\r\nSum: 1\r\n 2\r\n\r\n")
    #expect(said == [.head(200, ["A: b"]), .trailersEnded])
    #expect(lines(of: parser.trailers) == ["Content-Length: 7", "Sum: 1 2"])
    #expect(parser.framing.contentLength == nil, "RFC 9110 section 6.5.1")
  }

  @Test func `a second head is taken only when announced`() throws {
    let two = "HTTP/1.1 401 Who\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nC: d\r\n\r\n"
    #expect(refusal(of: two) == "protocolViolation(noColon)")
    var parser = HeaderParser()
    parser.allowsAnotherHead = true
    #expect(try feed(&parser, two) == [.head(401, ["A: b"]), .head(200, ["C: d"])])
  }

  @Test func `reset forgets the answer before`() throws {
    var parser = HeaderParser()
    _ = try feed(&parser, "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 3\r\n\r\nT: r\r\n")
    parser.reset()
    #expect(!parser.isHeadComplete && !parser.hasBegun)
    #expect(try feed(&parser, "HTTP/1.1 200 OK\r\n\r\n") == [.head(200, [])])
    #expect(parser.framing.contentLength == nil && parser.trailers.count == 0)
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Length: 5\r\nX: a\r\n b\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200\nA:b\n\nT: r\r\n\r\n",
    "HTTP/2 302 \r\nlocation: /there\r\nset-cookie: a\r\nset-cookie: b\r\n\r\n",
  ])
  func `every truncation is seen`(_ text: String) throws {
    let all = Array(text.utf8)
    for cut in 0..<all.count {
      var parser = HeaderParser()
      let said = try feed(&parser, all[..<cut])
      let hasHead = said.contains { if case .head = $0 { true } else { false } }
      #expect(parser.isHeadComplete == hasHead, "cut at \(cut)")
    }
  }

  @Test func `a line without end is truncated`() {
    var parser = HeaderParser()
    let said = outcome { try deliver("HTTP/1.1 200 OK", to: &parser) }
    #expect(said == "truncatedHeaders(line)")
  }
}
