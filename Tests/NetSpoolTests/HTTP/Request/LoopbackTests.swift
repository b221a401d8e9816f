import Testing

@testable import NetSpool

@Suite("Whether a host is this machine")
struct LoopbackTests {
  @Test(
    "names of RFC 6761 and addresses of RFC 6890 are, what a resolver may be asked for is not",
    arguments: [
      ("localhost", true), ("LOCALHOST", true), ("a.localhost", true),
      ("127.0.0.1", true), ("127.1.2.3", true),
      ("[::1]", true), ("[::ffff:127.0.0.1]", true), ("[::ffff:7f00:1]", true), ("[::FFFF:7FAB:1]", true),
      ("localhost.", false), ("notlocalhost", false), ("localhost.example", false), ("128.0.0.1", false),
      ("127.0.0.1.", false), ("127.0.0.1.example", false), ("[::2]", false), ("[::ffff:7f:1]", false),
      ("[::ffff:7f00:0:1]", false), ("[::ffff:128.0.0.1]", false), ("[2001:db8::7f00:1]", false),
    ])
  func rule(_ host: String, _ expected: Bool) {
    #expect(URLPieces(scheme: "http", host: host, port: 80, pathAndQuery: "/").origin.isLoopback == expected)
  }
}
