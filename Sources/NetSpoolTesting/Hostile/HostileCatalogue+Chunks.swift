extension HostileCatalogue {
  private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
  private static let letter = [UInt8(ascii: "a")]

  /// RFC 9112 section 7.1.
  static let chunks: [HostileBehaviour] = [
    .raw(.chunks, "chunk_badhex", "a chunk size that is no hex number", head + "xyz\r\nhello\r\n0\r\n\r\n"),
    .raw(
      .chunks, "chunk_toolong", "a chunk size of 20 digits",
      head + "00000000000000000005\r\nhello\r\n0\r\n\r\n"),
    .raw(
      .chunks, "chunk_overflow", "a chunk size of 2^64 - 1", head + "ffffffffffffffff\r\nhello\r\n0\r\n\r\n"
    )
    .endless(),
    .raw(.chunks, "chunk_minus", "a negative chunk size", head + "-5\r\nhello\r\n0\r\n\r\n"),
    .raw(.chunks, "chunk_0x", "a chunk size with 0x", head + "0x5\r\nhello\r\n0\r\n\r\n"),
    .raw(.chunks, "chunk_empty_size", "a chunk without a size", head + "\r\nhello\r\n0\r\n\r\n"),
    .raw(.chunks, "chunk_nocrlf", "no CR LF behind a chunk", head + "5\r\nhello0\r\n\r\n").endless(),
    .raw(
      .chunks, "chunk_long_data", "more data than the chunk's size", head + "5\r\nhello world\r\n0\r\n\r\n"),
    .raw(.chunks, "chunk_barelf", "chunk lines that end in a bare LF", head + "5\nhello\n0\n\n").endless(),
    .cut(.chunks, "chunk_noend", "the connection ends before the last chunk", head + "5\r\nhello\r\n"),
    .cut(.chunks, "chunk_partial", "the connection ends inside a chunk", head + "a\r\nhello"),
    .cut(
      .chunks, "chunk_no_trailer_end", "the connection ends before the blank line",
      head + "5\r\nhello\r\n0\r\n"),
    HostileBehaviour(.chunks, "chunk_ext5mb", "a chunk extension of 5 MB") { _ in
      .raw([
        .text(head + "5;x="), .repeating(letter, times: 5 << 20), .text("\r\nhello\r\n0\r\n\r\n"),
      ])
    },
    HostileBehaviour(.chunks, "chunk_trailers20k", "20,000 trailer fields, 2 MB") { _ in
      .raw([
        .text(head + "5\r\nhello\r\n0\r\n"),
        .repeating(Array("X-Trailer: \(String(repeating: "a", count: 87))\r\n".utf8), times: 20_000),
        .text("\r\n"),
      ])
    },
    HostileBehaviour(.chunks, "chunk_trailers_endless", "trailer fields without end") { _ in
      .raw([
        .text(head + "5\r\nhello\r\n0\r\n"), .repeating(Array("X-Trailer: value\r\n".utf8), times: nil),
      ])
    }.endless(),
    .raw(
      .chunks, "chunk_trailer_framing", "a trailer field Content-Length, and more bytes behind the end",
      head + "5\r\nhello\r\n0\r\nContent-Length: 9\r\n\r\nmore"),
    HostileBehaviour(.chunks, "chunk_tiny", "100,000 chunks of one byte: allowed") { _ in
      .raw([.text(head), .repeating(Array("1\r\na\r\n".utf8), times: 100_000), .text("0\r\n\r\n")])
    },
  ]
}
