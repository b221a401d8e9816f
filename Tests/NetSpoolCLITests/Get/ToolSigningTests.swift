import NetSpool
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `--aws-sigv4` before a server that works each signature out by itself.
@Suite(.needsSigningServer, .ownThreads) struct ToolSigningTests {
  private static func arguments(_ service: String, secret: String = "s3cret") -> [String] {
    ["-u", "AKIDEXAMPLE:\(secret)", "--aws-sigv4", "aws:amz:eu-central-1:\(service)"]
  }

  @Test(arguments: ["s3", "execute-api"]) func `get and post sign`(_ service: String) throws {
    let server = try SigningServer(service: service, accounts: "AKIDEXAMPLE=s3cret")
    let got = try Tool.run(["get", server.url("/a%20b?x=1&a=2")] + Self.arguments(service))
    #expect(got.exit == .status(0) && got.output == "AKIDEXAMPLE GET signed 0", "\(got)")
    let sent = try Tool.run(["post", server.url("/c"), "-d", "a=b"] + Self.arguments(service))
    #expect(sent.exit == .status(0) && sent.output == "AKIDEXAMPLE POST signed 3", "\(sent)")
  }

  @Test func `a wrong secret is refused and not shown`() throws {
    let server = try SigningServer(accounts: "AKIDEXAMPLE=s3cret")
    let end = try Tool.run(["get", server.url("/"), "-v"] + Self.arguments("s3", secret: "wr0ng"))
    #expect(end.exit == .status(1) && !end.errors.contains("wr0ng"), "\(end)")
  }

  @Test func `a token that was lent goes along in a field`() throws {
    let server = try SigningServer(accounts: "AKIDEXAMPLE=s3cret=t0ken")
    let words = ["get", server.url("/"), "-H", "X-Amz-Security-Token: t0ken"] + Self.arguments("s3")
    try Tool.run(words).expect(status: 0)
  }

  @Test func `a list is signed line by line`() throws {
    let server = try SigningServer(accounts: "AKIDEXAMPLE=s3cret")
    let folder = try TestFolder()
    try folder.write("list", (0..<5).map { server.url("/\($0)\n") }.joined())
    let end = try Tool.run(["fetch", folder["list"], "-o", folder["out"]] + Self.arguments("s3"))
    #expect(end.exit == .status(0) && TestFiles.names(in: folder["out"]).count == 5, "\(end)")
  }

  @Test(arguments: [
    ("aws:amz", "https://s3.eu-west-1.amazonaws.com/b", "eu-west-1/s3"),
    ("aws:amz:us-east-2", "https://sqs.eu-west-1.amazonaws.com/", "us-east-2/sqs"),
    ("AWS:AMZ:r:s", "http://127.0.0.1/", "r/s"), ("aws:amz", "http://127.0.0.1/", nil),
    ("aws:amz:r", "http://localhost/", nil),
  ]) func `what is left out stands in the host`(_ words: String, _ url: String, _ scope: String?) throws {
    let credentials = try #require(SigningScope(argument: words)).credentials("KEY", "secret", for: url)
    #expect(credentials.map { "\($0)" } == scope.map { "awsSigV4(accessKey: KEY, \($0))" })
  }
}
