import Testing

@testable import NetSpool

/// Which request follows a 3xx (RFC 9110 section 15.4).
struct RedirectDecisionTests {
  static let here = URLPieces(scheme: "https", host: "a.example", port: 443, pathAndQuery: "/here")
  static let there = URLPieces(scheme: "https", host: "a.example", port: 443, pathAndQuery: "/there")
  static let elsewhere = URLPieces(scheme: "https", host: "b.example", port: 443, pathAndQuery: "/")

  /// One redirect, first of its operation.
  static func hop(
    _ status: Int, _ method: Method, hasBody: Bool = false, from current: URLPieces = here,
    to target: URLPieces = there, policy: NetworkRequest.Redirects = .standard
  ) throws(NetworkError) -> RedirectHop {
    try RedirectDecision.hop(
      status: status, method: method, hasBody: hasBody, from: current, to: target,
      history: RedirectHistory(method: method, url: current), policy: policy)
  }

  @Test func `the body goes elsewhere when opted in`() throws {
    let policy = NetworkRequest.Redirects(resendsBodyAcrossOrigins: true)
    #expect(try Self.hop(307, .post, hasBody: true, to: Self.elsewhere, policy: policy).keepsBody)
    let said = outcome { _ = try Self.hop(302, .put, hasBody: true, to: Self.elsewhere, policy: policy) }
    #expect(said == "redirectRefused(body)")
  }

  @Test func `a failure says that the origin answered`() {
    let error = failure { _ = try Self.hop(302, .put, hasBody: true) }
    #expect(error?.sendState == .answered && error?.underlying == .http(302))
  }
}

/// Schemes and cycles.
struct RedirectLimitTests {
  private static func pieces(_ scheme: String, _ path: String = "/x") -> URLPieces {
    URLPieces(scheme: scheme, host: "a.example", port: scheme == "http" ? 80 : 443, pathAndQuery: path)
  }

  static let schemes: [(String, String, Bool, String?)] = [
    ("https", "https", false, nil), ("http", "https", false, nil), ("http", "http", false, nil),
    ("https", "http", false, "redirectRefused(downgrade)"), ("https", "http", true, nil),
    ("https", "ftp", true, "redirectRefused(scheme)"), ("http", "file", true, "redirectRefused(scheme)"),
    ("http", "gopher", false, "redirectRefused(scheme)"),
  ]

  @Test(arguments: schemes)
  func `only the web's schemes are followed`(
    from: String, to: String, allowsDowngrade: Bool, expected: String?
  ) {
    let said = outcome {
      _ = try RedirectDecisionTests.hop(
        301, .get, from: Self.pieces(from), to: Self.pieces(to, "/y"),
        policy: NetworkRequest.Redirects(allowsDowngrade: allowsDowngrade))
    }
    #expect(said == expected)
  }

  /// Follows a script of paths, 302 each, and gives the failure and the hops before it.
  private func walk(_ paths: [String]) -> (String?, Int) {
    var current = Self.pieces("https", "/0")
    var history = RedirectHistory(method: .get, url: current)
    let said = outcome {
      for path in paths {
        let hop = try RedirectDecision.hop(
          status: 302, method: .get, hasBody: false, from: current, to: Self.pieces("https", path),
          history: history, policy: .standard)
        history.append(method: hop.method, url: hop.url)
        current = hop.url
      }
    }
    return (said, history.hops)
  }

  @Test func `a loop is seen at once`() {
    #expect(walk(["/0"]) == ("redirectCycle", 0))
    #expect(walk(["/1", "/0"]) == ("redirectCycle", 1))
    #expect(walk(["/1", "/2", "/1"]) == ("redirectCycle", 2))
  }

  @Test func `a form that answers with its own page is no cycle`() throws {
    // Given a POST to /here, answered by 303 to /here
    let hop = try RedirectDecisionTests.hop(303, .post, hasBody: true, to: RedirectDecisionTests.here)
    // Then that page is asked for, once
    #expect(hop.method == .get && hop.url == RedirectDecisionTests.here)
    var history = RedirectHistory(method: .post, url: hop.url)
    history.append(method: .get, url: hop.url)
    let said = outcome {
      _ = try RedirectDecision.hop(
        status: 303, method: .get, hasBody: false, from: hop.url, to: hop.url, history: history,
        policy: .standard)
    }
    #expect(said == "redirectCycle")
  }
}
