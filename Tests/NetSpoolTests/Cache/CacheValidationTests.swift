import Testing

@testable import NetSpool

/// 304 (RFC 9111 sections 3.2, 4.3.3, 4.3.4) and HEAD (section 4.3.5).
struct CacheValidationTests {
  private static let later = receipt + 100_000

  private func updated(_ held: StoredResponse, _ lines: [String]) -> NotModified {
    held.notModified(head(304, lines), requestedAt: Self.later - 10, receivedAt: Self.later, rules: .standard)
  }

  private func name(_ result: NotModified) -> String {
    switch result {
    case .updated: "updated"
    case .kept: "kept"
    case .dropped: "dropped"
    case .mismatched: "mismatched"
    }
  }

  static let modified = "Last-Modified: \(date(-1000))"
  static let other = "Last-Modified: \(date(-999))"

  /// What is stored, the 304, and what comes of it.
  static let selections: [([String], [String], String)] = [
    (["ETag: \"a\""], ["ETag: \"a\""], "updated"), (["ETag: \"a\""], ["ETag: \"b\""], "mismatched"),
    (["ETag: \"a\""], [], "kept"), (["ETag: \"a\""], ["ETag: W/\"a\""], "updated"),
    (["ETag: W/\"a\""], ["ETag: W/\"a\""], "updated"), (["ETag: W/\"a\""], ["ETag: \"a\""], "updated"),
    (["ETag: W/\"a\""], ["ETag: W/\"b\""], "mismatched"), (["ETag: \"a\""], ["ETag: \"A\""], "mismatched"),
    (["ETag: \"a\"", modified], ["ETag: \"a\"", other], "updated"),
    (["ETag: \"a\"", modified], ["ETag: \"b\"", modified], "mismatched"),
    (["ETag: \"a\"", modified], [modified], "updated"), (["ETag: \"a\"", modified], [other], "mismatched"),
    ([modified], [modified], "updated"), ([modified], [other], "mismatched"), ([modified], [], "kept"),
    ([modified], ["ETag: \"a\"", modified], "mismatched"),
    ([modified], ["ETag: W/\"a\"", modified], "updated"),
    ([], [], "updated"), ([], ["ETag: \"a\""], "mismatched"),
    (["ETag: \"a\""], ["ETag: \"a\"", "Cache-Control: no-store"], "dropped"),
    (["ETag: \"a\""], ["ETag: \"a\"", "Vary: *"], "dropped"),
    (["ETag: \"a\""], ["ETag: \"a\"", "Vary: Accept"], "dropped"),
    (["ETag: \"a\"", "Vary: accept"], ["ETag: \"a\"", "Vary: Accept"], "updated"),
    (["ETag: \"a\""], ["ETag: \"a\"", "Set-Cookie: x"], "updated"),
  ]

  @Test func `what is stored of a head stays as long as a head may be`() throws {
    let tag = "ETag: \"a\""
    var held = try #require(stored([tag, "Cache-Control: max-age=1"]))
    var rounds = 0
    while rounds < 10,
      case .updated(let next) = updated(held, [tag] + (0..<60).map { "X-\(rounds)-\($0): x" })
    {
      (held, rounds) = (next, rounds + 1)
    }
    #expect(rounds == 4)
    let long = "X-Long: \(String(repeating: "x", count: 130 << 10))"
    #expect(name(updated(held, [tag, long])) == "dropped")
  }

  @Test(arguments: selections)
  func `a 304 is about the stored answer`(_ lines: [String], _ new: [String], expected: String) throws {
    let held = try #require(stored(lines + ["Cache-Control: max-age=1"]))
    #expect(name(updated(held, new)) == expected)
  }

  /// Section 4.4.
  @Test func `unsafe methods invalidate`() throws {
    #expect(!Invalidation.applies(method: .post, status: 199))
    #expect(
      Invalidation.references(fields("Content-Location: /b", "Location: /a", "Location: /c")) == ["/a", "/b"])
    let target = URLPieces(scheme: "https", host: "a", port: 443, pathAndQuery: "/x")
    #expect(
      Invalidation.isTarget(URLPieces(scheme: "HTTPS", host: "A", port: 443, pathAndQuery: "/y"), of: target))
    for (scheme, host, port) in [("http", "a", 443), ("https", "b", 443), ("https", "a", 444)] {
      let other = URLPieces(scheme: scheme, host: host, port: port, pathAndQuery: "/x")
      #expect(!Invalidation.isTarget(other, of: target))
    }
  }
}
