extension HostileCatalogue {
  private static func to(_ name: String, _ summary: String, _ location: String) -> HostileBehaviour {
    .plain(.redirects, name, summary, .redirect(to: location))
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
      .plain(.redirects, "redir_none", "302 without Location", .status(302)),
      to("redir_8k", "a Location of 8 KB", "/hostile/ok?" + String(repeating: "a", count: 8_192)),
      to("redir_crlf", "an encoded CR LF in Location", "/hostile/ok%0d%0aX-Injected:%20evil"),
      .raw(
        .redirects, "redir_two", "two Location fields that differ",
        "HTTP/1.1 302 Found\r\nLocation: /hostile/ok\r\nLocation: /hostile/empty\r\nContent-Length: 0\r\n\r\n"
      ),
      HostileBehaviour(.redirects, "redir_nonutf8", "a Location that is not UTF-8") { _ in
        .raw([
          .text("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /hostile/"),
          .bytes([0xff, 0xfe, 0xfc]), .text("\r\n\r\n"),
        ])
      },
      HostileBehaviour(.redirects, "redir_userinfo", "user and password in Location") {
        .redirect(to: "http://user:secret@\($0.header("Host") ?? "127.0.0.1")/hostile/ok")
      },
      HostileBehaviour(.redirects, "redir_fragment", "a fragment in Location: allowed") { _ in
        .redirect(to: "/hostile/ok#part")
      },
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
}
