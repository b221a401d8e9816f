extension HostileCatalogue {
  private static func head(_ fields: String) -> String { "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n" }

  /// RFC 9112 section 6.3. All of these leave the connection open if they can: a client that goes on using it
  /// reads the next answer from the wrong place.
  static let framing: [HostileBehaviour] = lengths + forbiddenBodies

  private static let lengths: [HostileBehaviour] = [
    .raw(
      .framing, "cl_twice_equal", "Content-Length twice, the same",
      head("Content-Length: 5\r\nContent-Length: 5") + "hello"),
    .raw(
      .framing, "cl_differ", "Content-Length twice, 5 and 6",
      head("Content-Length: 5\r\nContent-Length: 6") + "hello!"),
    .raw(.framing, "cl_list", "Content-Length: 5, 6", head("Content-Length: 5, 6") + "hello!"),
    .raw(.framing, "cl_list_equal", "Content-Length: 5, 5", head("Content-Length: 5, 5") + "hello"),
    .raw(.framing, "cl_plus", "Content-Length: +5", head("Content-Length: +5") + "hello"),
    .raw(.framing, "cl_minus", "Content-Length: -5", head("Content-Length: -5") + "hello"),
    .raw(.framing, "cl_hex", "Content-Length: 0x5", head("Content-Length: 0x5") + "hello"),
    .raw(.framing, "cl_junk", "Content-Length: 5 bytes", head("Content-Length: 5 bytes") + "hello"),
    .raw(.framing, "cl_empty", "Content-Length without a value", head("Content-Length:") + "hello"),
    .raw(
      .framing, "cl_huge", "Content-Length of 23 digits",
      head("Content-Length: 99999999999999999999999") + "hello"),
    .raw(
      .framing, "cl_te", "Content-Length and Transfer-Encoding: chunked",
      head("Content-Length: 5\r\nTransfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n"),
    .raw(
      .framing, "te_twice", "chunked applied twice, one field each",
      head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n"),
    .raw(
      .framing, "te_unknown", "a transfer coding that nobody asked for, then chunked",
      head("Transfer-Encoding: rot13, chunked") + "5\r\nuryyb\r\n0\r\n\r\n"),
    .cut(
      .framing, "te_not_last", "chunked is not the last transfer coding",
      head("Transfer-Encoding: chunked, identity") + "5\r\nhello\r\n0\r\n\r\n"),
    .raw(
      .framing, "cl_long", "six bytes more than Content-Length", head("Content-Length: 5") + "hello world"),
    .cut(.framing, "cl_short_close", "half the body, then the end", head("Content-Length: 10") + "hello"),
    .raw(
      .framing, "pipelined_extra", "a second answer that nobody asked for",
      head("Content-Length: 5") + "hello" + head("Content-Length: 4") + "evil"),
  ]

  private static let forbiddenBodies: [HostileBehaviour] = [
    .raw(
      .framing, "204_body", "204 with a body", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello"),
    .raw(
      .framing, "304_body", "304 with a body",
      "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 5\r\n\r\nhello"
    ).asked("GET", ["If-None-Match": "\"a\""]),
    .raw(.framing, "head_body", "a body in the answer to HEAD", head("Content-Length: 5") + "hello").asked(
      "HEAD"),
    .raw(
      .framing, "205_body", "205 with a body", "HTTP/1.1 205 Reset Content\r\nContent-Length: 5\r\n\r\nhello"),
  ]
}
