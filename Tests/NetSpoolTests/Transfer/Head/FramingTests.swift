import Testing

@testable import NetSpool

/// Where the body ends (RFC 9112 section 6).
struct FramingTests {
  @Test(arguments: [
    ("Content-Length: 5\r\nContent-Length: 6", "lengthsDiffer"), ("Content-Length: 5, 6", "lengthsDiffer"),
    ("Content-Length: +5", "lengthDigits"), ("Content-Length: -5", "lengthDigits"),
    ("Content-Length: 5 5", "lengthDigits"), ("Content-Length: 0x5", "lengthDigits"),
    ("Content-Length: 5.0", "lengthDigits"), ("Content-Length:", "lengthDigits"),
    ("Content-Length: 5,", "lengthDigits"), ("Content-Length: 1234567890123456789", "lengthDigits"),
    ("Content-Length: 12345678901234567890123", "lengthDigits"), ("Content-Length: 5\r\n 6", "folded"),
    ("Transfer-Encoding:\r\n chunked", "transferEncoding"),
    ("Transfer-Encoding: gzip,\r\n chunked", "transferEncoding"),
    ("Transfer-Encoding: gzip\r\n , chunked", "folded"),
    ("Content-Length: 5\r\nTransfer-Encoding: chunked", "lengthWithTransferEncoding"),
    ("transfer-encoding: identity\r\ncontent-length: 5", "lengthWithTransferEncoding"),
    ("Transfer-Encoding: chunked, chunked", "chunkedNotLast"),
    ("Transfer-Encoding: chunked, gzip", "chunkedNotLast"),
    ("Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip", "chunkedNotLast"),
  ])
  func `ambiguous framing is refused`(_ fields: String, reason: String) {
    #expect(refusal(of: "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n") == "ambiguousFraming(\(reason))")
  }

  private func framing(_ fields: String, start: String = "HTTP/1.1 200 OK") throws -> Framing {
    var parser = HeaderParser()
    _ = try feed(&parser, "\(start)\r\n\(fields)\r\n\r\n")
    return parser.framing
  }

  @Test(
    arguments: [
      ("Content-Length: 5", 5), ("content-length:0", 0), ("CONTENT-LENGTH: 007", 7),
      ("Content-Length: 5\r\nContent-Length: 5", 5), ("Content-Length: 5, 5 ,5", 5),
      ("Content-Length: 999999999999999999", 999_999_999_999_999_999),
    ] as [(String, Int64)])
  func `an unambiguous length is taken`(_ fields: String, length: Int64) throws {
    #expect(try framing(fields).contentLength == length)
  }

  @Test func `other fields of the same length mean nothing`() throws {
    let fields = "Content-Lengtx: x\r\nTransfer-Encodinx: chunked\r\nContent-Encodinx: gzip"
    #expect(try framing(fields) == Framing())
  }

  @Test func `notes are taken on the way`() throws {
    let framing = try framing("Transfer-Encoding: gzip, Chunked\r\nCONTENT-ENCODING: br")
    #expect(framing.hasTransferEncoding && framing.isChunked && framing.hasContentEncoding)
    #expect(framing.contentLength == nil)
  }

  @Test(arguments: ["Content-Encoding: identity", "Content-Encoding:", "X: gzip"])
  func `identity is no coding`(_ fields: String) throws { #expect(try !framing(fields).hasContentEncoding) }

  /// RFC 9112 section 6.3, item by item.
  static let bodies: [(Int, ResponseHead.Version, Method, String, BodyFraming)] = [
    (200, .http11, .head, "Content-Length: 5", .none), (204, .http11, .get, "Content-Length: 5", .none),
    (304, .http11, .get, "Content-Length: 5", .none),
    (200, .http11, .get, "Transfer-Encoding: chunked", .chunked),
    (200, .http11, .get, "Transfer-Encoding: gzip", .untilClose),
    (200, .http11, .get, "Content-Length: 5", .length(5)), (200, .http11, .get, "A: b", .untilClose),
    (200, .http2, .get, "content-length: 5", .length(5)), (200, .http2, .post, "a: b", .stream),
  ]

  @Test(arguments: bodies)
  func `the body's end is known`(
    status: Int, version: ResponseHead.Version, method: Method, fields: String, expected: BodyFraming
  ) throws { #expect(try framing(fields).body(status: status, version: version, method: method) == expected) }
}
