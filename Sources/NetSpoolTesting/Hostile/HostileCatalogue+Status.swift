extension HostileCatalogue {
  private static let hints = Array("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n".utf8)
  private static let body = "Content-Length: 5\r\n\r\nhello"

  /// RFC 9112 section 4, RFC 9110 section 15.2.
  static let status: [HostileBehaviour] = informational + lines

  private static let informational: [HostileBehaviour] = [
    HostileBehaviour(.status, "1xx_many", "200,000 answers 103, then 200") { _ in
      .raw([.repeating(hints, times: 200_000), .text("HTTP/1.1 200 OK\r\n" + body)])
    },
    HostileBehaviour(.status, "1xx_endless", "answers 103 without end") { _ in
      .raw([.repeating(hints, times: nil)])
    }.endless(),
    HostileBehaviour(.status, "1xx_few", "two answers 103, then 200: allowed") { _ in
      .raw([.repeating(hints, times: 2), .text("HTTP/1.1 200 OK\r\n" + body)])
    },
    .raw(
      .status, "100_unasked", "100 Continue that nobody asked for, then 200: allowed",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n" + body),
    .raw(
      .status, "101", "Switching Protocols that nobody asked for",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: evil\r\nConnection: Upgrade\r\n\r\nhello"
    ).endless(),
  ]

  private static let lines: [HostileBehaviour] = [
    .cut(.status, "http09", "a body without any head, as in HTTP/0.9", "<html>hello</html>"),
    .raw(.status, "http37", "HTTP/3.7", "HTTP/3.7 200 OK\r\n" + body),
    .raw(.status, "http2", "HTTP/2 on a connection that is HTTP/1.1", "HTTP/2 200\r\n" + body),
    .raw(.status, "icy", "ICY instead of HTTP", "ICY 200 OK\r\n" + body),
    .raw(.status, "status_000", "status 000", "HTTP/1.1 000 Zero\r\n" + body),
    .raw(.status, "status_99999", "status of five digits", "HTTP/1.1 99999 Much\r\n" + body),
    .raw(.status, "status_999", "status 999", "HTTP/1.1 999 Odd\r\n" + body),
    .raw(.status, "status_text", "letters for a status", "HTTP/1.1 abc OK\r\n" + body),
    .raw(.status, "status_minus", "a negative status", "HTTP/1.1 -200 OK\r\n" + body),
    .raw(.status, "status_none", "no status", "HTTP/1.1\r\n" + body),
    .raw(.status, "status_no_reason", "no reason phrase: allowed", "HTTP/1.1 200 \r\n" + body),
    HostileBehaviour(.status, "status_big_reason", "a reason phrase of 200 KB") { _ in
      .raw([
        .text("HTTP/1.1 200 "), .repeating([UInt8(ascii: "a")], times: 204_800), .text("\r\n" + body),
      ])
    },
    HostileBehaviour(.status, "empty", "the connection ends without an answer") { _ in .hangUp },
    HostileBehaviour(.status, "garbage", "4 KiB of arbitrary bytes, then the end") { _ in
      .raw([.pattern(4_096, from: 7), .close])
    },
  ]
}
