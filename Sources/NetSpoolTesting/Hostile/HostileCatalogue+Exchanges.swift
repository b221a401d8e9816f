extension HostileCatalogue {
  private static func later(_ name: String, _ summary: String, _ retryAfter: String) -> HostileBehaviour {
    .plain(name, summary, Answer.text("later", status: 503).header("Retry-After", retryAfter))
  }

  /// Answers that are wrong only for the request they answer.
  static let requests: [HostileBehaviour] =
    uploads + conditions + [
      later("ret_after", "503, Retry-After: 1", "1"),
      later("ret_after_huge", "503, Retry-After of 20 digits", "99999999999999999999"),
      later("ret_after_minus", "503, Retry-After: -1", "-1"),
      later("ret_after_past", "503, Retry-After in the past", "Sun, 06 Nov 1994 08:49:37 GMT"),
      later("ret_after_junk", "503, Retry-After that is neither number nor date", "soon"),
    ]

  private static let uploads: [HostileBehaviour] = [
    .plain("early_413", "413 before the body has come, then the end", .text("too large", status: 413))
      .asked("POST")
      .atHead { _ in Answer.text("too large", status: 413).early().closing() },
    .plain("early_200", "200 before the body has come, the connection stays", .text("enough"))
      .asked("POST")
      .atHead { _ in Answer.text("enough").early() },
    .plain("expect_417", "417 to Expect: 100-continue, 200 without it", .text("ok"))
      .asked("POST", ["Expect": "100-continue"])
      .atHead { $0.header("Expect") == nil ? nil : Answer.status(417).closing() },
  ]

  private static let conditions: [HostileBehaviour] = [
    .plain("304_unasked", "304 to a request without a condition", .status(304)),
    .plain(
      "206_unasked", "206 to a request without a range",
      Answer(status: 206, headers: ["Content-Range": "bytes 0-4/10"], body: .text("hello"))),
    .plain("range_ignored", "200 with everything to a request for a range: allowed", .pattern(1_000))
      .asked("GET", ["Range": "bytes=500-", "If-Range": "\"a\""]),
    .plain(
      "range_wrong", "206 with another range than was asked for",
      Answer(
        status: 206, headers: ["Content-Range": "bytes 0-499/1000", "ETag": "\"a\""],
        body: .pattern(count: 500))
    ).asked("GET", ["Range": "bytes=500-", "If-Range": "\"a\""]),
    .plain(
      "range_other_etag", "206 of another version of the body",
      Answer(
        status: 206, headers: ["Content-Range": "bytes 500-999/1000", "ETag": "\"b\""],
        body: .pattern(count: 500, from: 500))
    ).asked("GET", ["Range": "bytes=500-", "If-Range": "\"a\""]),
  ]

  private static func to(_ name: String, _ summary: String, _ location: String) -> HostileBehaviour {
    .plain(name, summary, .redirect(to: location))
  }

  /// RFC 9110 section 10.2.2.
  static let redirects: [HostileBehaviour] =
    circles + [
      to("redir_file", "to a file: URL", "file:///etc/passwd"),
      to("redir_ftp", "to an ftp: URL", "ftp://127.0.0.1/secret"),
      to("redir_gopher", "to a gopher: URL", "gopher://127.0.0.1:11211/_stats"),
      to("redir_javascript", "to a javascript: URL", "javascript:alert(1)"),
      to("redir_data", "to a data: URL", "data:text/plain,evil"),
      to("redir_empty", "Location without a value", ""),
      .plain("redir_none", "302 without Location", .status(302)),
      to("redir_8k", "a Location of 8 KB", "/hostile/ok?" + String(repeating: "a", count: 8_192)),
      to("redir_crlf", "an encoded CR LF in Location", "/hostile/ok%0d%0aX-Injected:%20evil"),
      .raw(
        "redir_two", "two Location fields that differ",
        "HTTP/1.1 302 Found\r\nLocation: /hostile/ok\r\nLocation: /hostile/empty\r\nContent-Length: 0\r\n\r\n"
      ),
      HostileBehaviour("redir_nonutf8", "a Location that is not UTF-8") { _ in
        .raw([
          .text("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /hostile/"),
          .bytes([0xff, 0xfe, 0xfc]), .text("\r\n\r\n"),
        ])
      },
      HostileBehaviour("redir_userinfo", "user and password in Location") {
        .redirect(to: "http://user:secret@\($0.header("Host") ?? "127.0.0.1")/hostile/ok")
      },
      to("redir_fragment", "a fragment in Location: allowed", "/hostile/ok#part"),
    ]

  private static let circles: [HostileBehaviour] = [
    to("redir_loop", "to itself", "/hostile/redir_loop"),
    to("redir_ab", "to redir_ba, which leads back", "/hostile/redir_ba"),
    to("redir_ba", "to redir_ab, which leads back", "/hostile/redir_ab"),
    to("redir_chain", "a chain of 1,000, each to another path", "/hostile/redir_chain/1"),
  ]

  /// `/hostile/redir_chain/<n>`.
  @Sendable
  static func nextOfChain(_ request: RecordedRequest) -> Answer {
    let step = request.path.split(separator: "/").last.flatMap { Int($0) } ?? 1_000
    return .redirect(to: step < 999 ? "/hostile/redir_chain/\(step + 1)" : "/hostile/ok")
  }

  private static let text = Array(String(repeating: "the same words again and again. ", count: 320).utf8)
  private static let zipped = Gzip.stored(text)
  /// 200 MiB, from about 200 KB.
  private static let bomb = GzipBomb(unpacked: 200 << 20)
  /// 500 MiB, from about 600 bytes.
  private static let doubleBomb = GzipBomb.double(unpacked: 500 << 20)

  private static func coded(
    _ name: String, _ summary: String, as coding: String = "gzip", _ bytes: @escaping @Sendable () -> [UInt8]
  ) -> HostileBehaviour {
    HostileBehaviour(name, summary) { _ in
      Answer(headers: ["Content-Type": "text/plain", "Content-Encoding": coding], body: .bytes(bytes()))
    }
  }

  /// RFC 9110 section 8.4.
  static let coding: [HostileBehaviour] = [
    coded("gz_ok", "gzip as it should be") { zipped },
    coded("gz_bomb", "200 MiB of zeros in 200 KB of gzip") { bomb.bytes },
    coded("gz_bomb2", "500 MiB of zeros in gzip in gzip, under 1 KB", as: "gzip, gzip") { doubleBomb },
    HostileBehaviour("gz_bomb_10g", "10 GiB of zeros in 10 MB of gzip", hugeBomb),
    coded("gz_truncated", "gzip without its last 100 bytes") { zipped.dropLast(100) },
    coded("gz_no_trailer", "gzip without checksum and length") { zipped.dropLast(8) },
    coded("gz_badcrc", "gzip with a wrong checksum") { flipped(zipped, fromEnd: 8) },
    coded("gz_badlen", "gzip with a wrong length") { flipped(zipped, fromEnd: 4) },
    coded("gz_baddata", "gzip with a wrong byte in the middle") {
      flipped(zipped, fromEnd: zipped.count / 2)
    },
    coded("gz_junk", "bytes behind the end of the gzip stream") { zipped + Array("trailing junk".utf8) },
    coded("gz_two_members", "two gzip members in a row: allowed by RFC 1952") { zipped + zipped },
    coded("gz_not", "says gzip, is plain text") { text },
    coded("gz_empty", "says gzip, has no byte") { [] },
    coded("gz_header_only", "a gzip header and nothing more") { Array(zipped.prefix(10)) },
    coded("enc_unknown", "a coding nobody knows", as: "rot13") { text },
    coded("enc_mixed", "a coding nobody knows around gzip", as: "gzip, rot13") { zipped },
    coded("enc_layers", "six layers of gzip", as: "gzip, gzip, gzip, gzip, gzip, gzip") {
      (0..<6).reduce(text) { bytes, _ in Gzip.stored(bytes) }
    },
  ]

  @Sendable
  private static func hugeBomb(_ request: RecordedRequest) -> Answer {
    let bomb = GzipBomb(unpacked: 10 << 30)
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n"
    return .raw([
      .text(head), .bytes(bomb.prefix), .repeating([0], times: bomb.zeroCount), .bytes(bomb.suffix),
    ])
  }

  private static func flipped(_ bytes: [UInt8], fromEnd distance: Int) -> [UInt8] {
    var bytes = bytes
    bytes[bytes.count - distance] ^= 0xff
    return bytes
  }

  private static let hello = Answer.text("hello")

  /// The connection's own behaviour, whatever is sent on it.
  static let transport: [HostileBehaviour] = [
    .plain(
      "slow", "the body drips, a byte every 0.3 seconds",
      .pattern(1_000).paced(.slices(of: 1, every: .milliseconds(300)), bodyOnly: true)
    ).endless(),
    .plain("sliced", "every byte in a write of its own: allowed", .pattern(300).slice(1)),
    .plain("stall_request", "no answer, the connection stays open", .noAnswer).endless(),
    .plain("stall_head", "half a head, then nothing more", hello.fault(.stall, at: .head(20))).endless(),
    .plain("stall_body", "half a body, then nothing more", .pattern(1_000).stallAfter(500)).endless(),
    .plain("reset_request", "reset instead of an answer", hello.fault(.reset, at: .requestRead)),
    .plain("reset_head", "reset inside the head", hello.fault(.reset, at: .head(20))),
    .plain("reset_body", "reset inside the body", .pattern(100_000).resetAfter(50_000)),
    .plain("close_body", "closed inside the body", .pattern(100_000).closeAfter(50_000)),
    .plain(
      "until_close", "a body without length, ended by the connection's end: allowed",
      .pattern(10_000).framed(.untilClose)),
    .plain("keepalive_lie", "closed behind an answer that did not say so", hello.fault(.close, at: .body(5))),
    HostileBehaviour("body_endless", "a body without length and without end") { _ in
      .raw([.text("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"), .repeating(BodyPattern.block, times: nil)])
    }.endless(),
  ]
}
