/// Everything an origin can do wrong, by name, for tests that go through the list. What a client should make of
/// each is the client's matter; most of them it should refuse.
public enum HostileCatalogue {
  /// All behaviours, group by group.
  public static let all: [HostileBehaviour] = groups.flatMap { group, behaviours in
    behaviours.map { $0.of(group) }
  }

  private static let groups: KeyValuePairs<HostileBehaviour.Group, [HostileBehaviour]> = [
    .framing: lengths + forbiddenBodies, .headers: sizes + shapes, .status: informational + lines,
    .chunks: chunks, .transport: transport, .coding: coding, .redirects: redirects, .requests: requests,
  ]

  /// The behaviour of this name.
  public static func named(_ name: String) -> HostileBehaviour? { all.first { $0.name == name } }

  /// The behaviours of this group.
  public static func group(_ group: HostileBehaviour.Group) -> [HostileBehaviour] {
    all.filter { $0.group == group }
  }
}

extension ScriptedOrigin {
  /// An origin that serves the whole ``HostileCatalogue``.
  ///
  /// - Throws: ``OriginError`` when the system gives no socket or thread.
  public static func hostile(limits: OriginLimits = OriginLimits()) throws(OriginError) -> ScriptedOrigin {
    let origin = try ScriptedOrigin(limits: limits)
    origin.serveHostile()
    return origin
  }

  /// Serves each behaviour of the catalogue at `/hostile/<name>`, and at `/hostile/ok` a correct answer, `ok`: what
  /// a test asks for to see that its client is still alive.
  public func serveHostile() {
    on("/hostile/ok", .text("ok"))
    on(prefix: "/hostile/redir_chain/", HostileCatalogue.nextOfChain)
    for behaviour in HostileCatalogue.all {
      on(behaviour.path, behaviour.answer)
      if let headAnswer = behaviour.headAnswer { onHead(behaviour.path, headAnswer) }
    }
  }
}

extension HostileCatalogue {
  private static func head(_ fields: String) -> String { "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n" }

  /// RFC 9112 section 6.3. All of these leave the connection open if they can: a client that goes on using it
  /// reads the next answer from the wrong place.
  private static let lengths: [HostileBehaviour] = [
    .raw(
      "cl_twice_equal", "Content-Length twice, the same",
      head("Content-Length: 5\r\nContent-Length: 5") + "hello"),
    .raw(
      "cl_differ", "Content-Length twice, 5 and 6",
      head("Content-Length: 5\r\nContent-Length: 6") + "hello!"),
    .raw("cl_list", "Content-Length: 5, 6", head("Content-Length: 5, 6") + "hello!"),
    .raw("cl_list_equal", "Content-Length: 5, 5", head("Content-Length: 5, 5") + "hello"),
    .raw("cl_plus", "Content-Length: +5", head("Content-Length: +5") + "hello"),
    .raw("cl_minus", "Content-Length: -5", head("Content-Length: -5") + "hello"),
    .raw("cl_hex", "Content-Length: 0x5", head("Content-Length: 0x5") + "hello"),
    .raw("cl_junk", "Content-Length: 5 bytes", head("Content-Length: 5 bytes") + "hello"),
    .raw("cl_empty", "Content-Length without a value", head("Content-Length:") + "hello"),
    .raw("cl_huge", "Content-Length of 23 digits", head("Content-Length: 99999999999999999999999") + "hello"),
    .raw(
      "cl_te", "Content-Length and Transfer-Encoding: chunked",
      head("Content-Length: 5\r\nTransfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n"),
    .raw(
      "te_twice", "chunked applied twice, one field each",
      head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n"),
    .raw(
      "te_unknown", "a transfer coding that nobody asked for, then chunked",
      head("Transfer-Encoding: rot13, chunked") + "5\r\nuryyb\r\n0\r\n\r\n"),
    .cut(
      "te_not_last", "chunked is not the last transfer coding",
      head("Transfer-Encoding: chunked, identity") + "5\r\nhello\r\n0\r\n\r\n"),
    .raw("cl_long", "six bytes more than Content-Length", head("Content-Length: 5") + "hello world"),
    .cut("cl_short_close", "half the body, then the end", head("Content-Length: 10") + "hello"),
    .raw(
      "pipelined_extra", "a second answer that nobody asked for",
      head("Content-Length: 5") + "hello" + head("Content-Length: 4") + "evil"),
  ]

  private static let forbiddenBodies: [HostileBehaviour] = [
    .raw("204_body", "204 with a body", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello"),
    .raw(
      "304_body", "304 with a body",
      "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 5\r\n\r\nhello"
    ).asked("GET", ["If-None-Match": "\"a\""]),
    .raw("head_body", "a body in the answer to HEAD", head("Content-Length: 5") + "hello").asked("HEAD"),
    .raw("205_body", "205 with a body", "HTTP/1.1 205 Reset Content\r\nContent-Length: 5\r\n\r\nhello"),
  ]

  private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
  private static let letter = [UInt8(ascii: "a")]

  /// RFC 9112 section 7.1.
  private static let chunks: [HostileBehaviour] = [
    .raw("chunk_badhex", "a chunk size that is no hex number", head + "xyz\r\nhello\r\n0\r\n\r\n"),
    .raw("chunk_toolong", "a chunk size of 20 digits", head + "00000000000000000005\r\nhello\r\n0\r\n\r\n"),
    .raw("chunk_overflow", "a chunk size of 2^64 - 1", head + "ffffffffffffffff\r\nhello\r\n0\r\n\r\n")
      .endless(),
    .raw("chunk_minus", "a negative chunk size", head + "-5\r\nhello\r\n0\r\n\r\n"),
    .raw("chunk_0x", "a chunk size with 0x", head + "0x5\r\nhello\r\n0\r\n\r\n"),
    .raw("chunk_empty_size", "a chunk without a size", head + "\r\nhello\r\n0\r\n\r\n"),
    .raw("chunk_nocrlf", "no CR LF behind a chunk", head + "5\r\nhello0\r\n\r\n").endless(),
    .raw("chunk_long_data", "more data than the chunk's size", head + "5\r\nhello world\r\n0\r\n\r\n"),
    .raw("chunk_barelf", "chunk lines that end in a bare LF", head + "5\nhello\n0\n\n").endless(),
    .cut("chunk_noend", "the connection ends before the last chunk", head + "5\r\nhello\r\n"),
    .cut("chunk_partial", "the connection ends inside a chunk", head + "a\r\nhello"),
    .cut("chunk_no_trailer_end", "the connection ends before the blank line", head + "5\r\nhello\r\n0\r\n"),
    HostileBehaviour("chunk_ext5mb", "a chunk extension of 5 MB") { _ in
      .raw([.text(head + "5;x="), .repeating(letter, times: 5 << 20), .text("\r\nhello\r\n0\r\n\r\n")])
    },
    HostileBehaviour("chunk_trailers20k", "20,000 trailer fields, 2 MB") { _ in
      .raw([
        .text(head + "5\r\nhello\r\n0\r\n"),
        .repeating(Array("X-Trailer: \(String(repeating: "a", count: 87))\r\n".utf8), times: 20_000),
        .text("\r\n"),
      ])
    },
    HostileBehaviour("chunk_trailers_endless", "trailer fields without end") { _ in
      .raw([.text(head + "5\r\nhello\r\n0\r\n"), .repeating(Array("X-Trailer: value\r\n".utf8), times: nil)])
    }.endless(),
    .raw(
      "chunk_trailer_framing", "a trailer field Content-Length, and more bytes behind the end",
      head + "5\r\nhello\r\n0\r\nContent-Length: 9\r\n\r\nmore"),
    HostileBehaviour("chunk_tiny", "100,000 chunks of one byte: allowed") { _ in
      .raw([.text(head), .repeating(Array("1\r\na\r\n".utf8), times: 100_000), .text("0\r\n\r\n")])
    },
  ]

  private static let ok = "HTTP/1.1 200 OK\r\n"
  private static let body = "Content-Length: 5\r\n\r\nhello"

  /// RFC 9112 section 5.
  private static let sizes: [HostileBehaviour] = [
    HostileBehaviour("hdr_big_line", "one header line of 200 KB") { _ in
      .raw([.text(ok + "X-Big: "), .repeating([UInt8(ascii: "a")], times: 204_800), .text("\r\n" + body)])
    },
    HostileBehaviour("hdr_many", "4,000 header lines") { _ in
      .raw([.text(ok), .repeating(Array("X-Many: value\r\n".utf8), times: 4_000), .text(body)])
    },
    HostileBehaviour("hdr_infinite", "header lines without end") { _ in
      .raw([.text(ok), .repeating(Array("X-Endless: value\r\n".utf8), times: nil)])
    }.endless(),
    HostileBehaviour("hdr_line_infinite", "one header line without end") { _ in
      .raw([.text(ok + "X-Endless: "), .repeating([UInt8(ascii: "a")], times: nil)])
    }.endless(),
  ]

  private static let shapes: [HostileBehaviour] = [
    .raw("hdr_nul", "a NUL in a header value", ok + "X-Nul: a\0b\r\n" + body),
    .raw("hdr_nocolon", "a header line without a colon", ok + "X-No-Colon\r\n" + body),
    .raw("hdr_noname", "a header line that begins with the colon", ok + ": value\r\n" + body),
    .raw("hdr_badname", "a header name with a space in it", ok + "X Bad: value\r\n" + body),
    .raw("hdr_barecr", "a bare CR in a header value", ok + "X-CR: a\rInjected: b\r\n" + body),
    .raw("hdr_space_colon", "a space before the colon", ok + "Content-Length : 5\r\n\r\nhello"),
    .raw("hdr_obsfold", "a value folded over two lines", ok + "X-Fold: one\r\n  two\r\n" + body),
    .raw("hdr_leading_space", "the first header line begins with a space", ok + " X-A: b\r\n" + body),
    .raw("hdr_barelf", "lines that end in a bare LF", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"),
    HostileBehaviour("hdr_nonutf8", "header bytes that are not UTF-8") { _ in
      .raw([.text(ok + "X-Latin: "), .bytes([0x66, 0xfc, 0x72, 0xff, 0xfe]), .text("\r\n" + body)])
    },
    .cut("partial_hdr", "the connection ends inside the head", ok + "X-A: b"),
    .cut("partial_line", "the connection ends behind the status line", ok),
    .plain(
      "slow_hdr", "the head drips, a byte every 0.3 seconds",
      Answer.text("hello").slice(1, every: .milliseconds(300))
    ).endless(),
  ]

  private static let hints = Array("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n".utf8)

  /// RFC 9112 section 4, RFC 9110 section 15.2.
  private static let informational: [HostileBehaviour] = [
    HostileBehaviour("1xx_many", "200,000 answers 103, then 200") { _ in
      .raw([.repeating(hints, times: 200_000), .text("HTTP/1.1 200 OK\r\n" + body)])
    },
    HostileBehaviour("1xx_endless", "answers 103 without end") { _ in
      .raw([.repeating(hints, times: nil)])
    }.endless(),
    HostileBehaviour("1xx_few", "two answers 103, then 200: allowed") { _ in
      .raw([.repeating(hints, times: 2), .text("HTTP/1.1 200 OK\r\n" + body)])
    },
    .raw(
      "100_unasked", "100 Continue that nobody asked for, then 200: allowed",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n" + body),
    .raw(
      "101", "Switching Protocols that nobody asked for",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: evil\r\nConnection: Upgrade\r\n\r\nhello"
    ).endless(),
  ]

  private static let lines: [HostileBehaviour] = [
    .cut("http09", "a body without any head, as in HTTP/0.9", "<html>hello</html>"),
    .raw("http37", "HTTP/3.7", "HTTP/3.7 200 OK\r\n" + body),
    .raw("http2", "HTTP/2 on a connection that is HTTP/1.1", "HTTP/2 200\r\n" + body),
    .raw("icy", "ICY instead of HTTP", "ICY 200 OK\r\n" + body),
    .raw("status_000", "status 000", "HTTP/1.1 000 Zero\r\n" + body),
    .raw("status_99999", "status of five digits", "HTTP/1.1 99999 Much\r\n" + body),
    .raw("status_999", "status 999", "HTTP/1.1 999 Odd\r\n" + body),
    .raw("status_text", "letters for a status", "HTTP/1.1 abc OK\r\n" + body),
    .raw("status_minus", "a negative status", "HTTP/1.1 -200 OK\r\n" + body),
    .raw("status_none", "no status", "HTTP/1.1\r\n" + body),
    .raw("status_no_reason", "no reason phrase: allowed", "HTTP/1.1 200 \r\n" + body),
    HostileBehaviour("status_big_reason", "a reason phrase of 200 KB") { _ in
      .raw([.text("HTTP/1.1 200 "), .repeating([UInt8(ascii: "a")], times: 204_800), .text("\r\n" + body)])
    },
    .plain("empty", "the connection ends without an answer", .hangUp),
    HostileBehaviour("garbage", "4 KiB of arbitrary bytes, then the end") { _ in
      .raw([.pattern(4_096, from: 7), .close])
    },
  ]
}
