extension HostileCatalogue {
  private static let ok = "HTTP/1.1 200 OK\r\n"
  private static let body = "Content-Length: 5\r\n\r\nhello"

  /// RFC 9112 section 5.
  static let headers: [HostileBehaviour] = sizes + shapes

  private static let sizes: [HostileBehaviour] = [
    HostileBehaviour(.headers, "hdr_big_line", "one header line of 200 KB") { _ in
      .raw([
        .text(ok + "X-Big: "), .repeating([UInt8(ascii: "a")], times: 204_800), .text("\r\n" + body),
      ])
    },
    HostileBehaviour(.headers, "hdr_many", "4,000 header lines") { _ in
      .raw([.text(ok), .repeating(Array("X-Many: value\r\n".utf8), times: 4_000), .text(body)])
    },
    HostileBehaviour(.headers, "hdr_infinite", "header lines without end") { _ in
      .raw([.text(ok), .repeating(Array("X-Endless: value\r\n".utf8), times: nil)])
    }.endless(),
    HostileBehaviour(.headers, "hdr_line_infinite", "one header line without end") { _ in
      .raw([.text(ok + "X-Endless: "), .repeating([UInt8(ascii: "a")], times: nil)])
    }.endless(),
  ]

  private static let shapes: [HostileBehaviour] = [
    .raw(.headers, "hdr_nul", "a NUL in a header value", ok + "X-Nul: a\0b\r\n" + body),
    .raw(.headers, "hdr_nocolon", "a header line without a colon", ok + "X-No-Colon\r\n" + body),
    .raw(.headers, "hdr_noname", "a header line that begins with the colon", ok + ": value\r\n" + body),
    .raw(.headers, "hdr_badname", "a header name with a space in it", ok + "X Bad: value\r\n" + body),
    .raw(.headers, "hdr_barecr", "a bare CR in a header value", ok + "X-CR: a\rInjected: b\r\n" + body),
    .raw(.headers, "hdr_space_colon", "a space before the colon", ok + "Content-Length : 5\r\n\r\nhello"),
    .raw(.headers, "hdr_obsfold", "a value folded over two lines", ok + "X-Fold: one\r\n  two\r\n" + body),
    .raw(
      .headers, "hdr_leading_space", "the first header line begins with a space", ok + " X-A: b\r\n" + body),
    .raw(
      .headers, "hdr_barelf", "lines that end in a bare LF", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"),
    HostileBehaviour(.headers, "hdr_nonutf8", "header bytes that are not UTF-8") { _ in
      .raw([.text(ok + "X-Latin: "), .bytes([0x66, 0xfc, 0x72, 0xff, 0xfe]), .text("\r\n" + body)])
    },
    .cut(.headers, "partial_hdr", "the connection ends inside the head", ok + "X-A: b"),
    .cut(.headers, "partial_line", "the connection ends behind the status line", ok),
    HostileBehaviour(.headers, "slow_hdr", "the head drips, a byte every 0.3 seconds") { _ in
      Answer.text("hello").slice(1, every: .milliseconds(300))
    }.endless(),
  ]
}
