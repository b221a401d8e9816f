import Testing

@testable import NetSpool

/// Which request fields go along.
struct RedirectFieldsTests {
  static let secrets = [
    "Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "Idempotency-Key",
    "Origin", "Referer", "Host", "If-None-Match", "Acceptor", "Accepted-Token", "User-Agents",
  ]
  static let harmless = ["Accept", "accept-encoding", "ACCEPT-LANGUAGE", "User-Agent", "Range", "If-Range"]
  static let content = ["Content-Type", "content-encoding", "Content-MD5"]

  /// Host, port and scheme each make another origin (RFC 9110 section 4.3.1).
  static let otherOrigins = [
    URLPieces(scheme: "http", host: "b.example", port: 80, pathAndQuery: "/"),
    URLPieces(scheme: "http", host: "a.example", port: 8080, pathAndQuery: "/"),
    URLPieces(scheme: "https", host: "a.example", port: 80, pathAndQuery: "/"),
    URLPieces(scheme: "http", host: "www.a.example", port: 80, pathAndQuery: "/"),
  ]
  static let home = URLPieces(scheme: "http", host: "A.example", port: 80, pathAndQuery: "/start")

  private var all: Headers {
    var fields = Headers()
    for name in Self.secrets + Self.harmless + Self.content { fields.append(name: name, value: "v") }
    return fields
  }

  private func kept(
    _ status: Int, _ method: Method, hasBody: Bool, to target: URLPieces
  ) throws(NetworkError) -> [String] {
    let hop = try RedirectDecisionTests.hop(
      status, method, hasBody: hasBody, from: Self.home, to: target,
      policy: NetworkRequest.Redirects(resendsBodyAcrossOrigins: true))
    return hop.keptFields(of: all).map(\.name)
  }

  @Test(arguments: otherOrigins, [301, 302, 303, 307, 308])
  func `nothing secret crosses origins`(_ target: URLPieces, status: Int) throws {
    #expect(try kept(status, .get, hasBody: false, to: target) == Self.harmless)
  }

  @Test(arguments: otherOrigins)
  func `content fields cross with the body only`(_ target: URLPieces) throws {
    #expect(try kept(307, .post, hasBody: true, to: target) == Self.harmless + Self.content)
    #expect(try kept(303, .post, hasBody: true, to: target) == Self.harmless)
  }

  @Test func `at home everything stays but what described the body`() throws {
    let target = URLPieces(scheme: "HTTP", host: "a.EXAMPLE", port: 80, pathAndQuery: "/other")
    #expect(try kept(302, .get, hasBody: false, to: target) == all.map(\.name))
    #expect(try kept(307, .put, hasBody: true, to: target) == all.map(\.name))
    #expect(try kept(302, .post, hasBody: true, to: target) == Self.secrets + Self.harmless)
  }
}
