import Testing

@testable import NetSpool

@Suite("Exceptions of a proxy")
struct ProxyExceptionTests {
  @Test(
    arguments: [
      ("*", "a.test", true), ("", "a.test", false), ("a.test", "a.test", true), ("A.test.", "a.test", true),
      (".a.test", "a.test", true), ("a.test", "b.a.test", true), ("a.test", "ba.test", false),
      ("b.a.test", "a.test", false), ("x.test, a.test", "a.test.", true), ("x.test a.test", "a.test", true),
      (".", "a.test", false), ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1", "10.0.0.10", false),
      ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "11.0.0.1", false),
      ("10.0.0.0/15", "10.1.0.1", true), ("10.0.0.0/15", "10.2.0.1", false),
      ("10.0.0.0/33", "10.0.0.0", false), ("10.0.0.0/x", "10.0.0.0", false), ("0.1", "10.0.0.1", false),
      ("::1", "[::1]", true), ("[::1]", "[::1]", true), ("2001:db8::/32", "[2001:db8:1::2]", true),
      ("2001:db8::/32", "[2001:db9::2]", false), ("::/0", "10.0.0.1", false),
    ] as [(String, String, Bool)])
  func `are read as curl reads them`(_ list: String, _ host: String, _ isExcepted: Bool) throws {
    let proxy = ProxySettings(url: "http://proxy.test:1", exceptions: list)
    let origin = try Self.origin(host)
    #expect(proxy.excepts(origin) == isExcepted)
  }

  @Test func `need a route although the proxy is on this machine`() throws {
    var settings = HandleSettings()
    settings.plainProxy = ProxySettings(url: "http://127.0.0.1:1", exceptions: "10.0.0.1")
    let (excepted, other) = (try Self.origin("10.0.0.1"), try Self.origin("10.0.0.2"))
    #expect(OriginWatch.needsRoute(excepted, settings))
    #expect(!OriginWatch.needsRoute(other, settings))
  }

  private static func origin(_ host: String) throws -> URLPieces.Origin {
    try URLParser.parse("http://\(host)/").pieces.origin
  }
}
