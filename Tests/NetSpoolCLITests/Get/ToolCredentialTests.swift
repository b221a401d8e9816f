import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `netspool get --user` as users run it.
@Suite(.ownThreads) struct ToolCredentialTests {
  private static let basic = "Basic dXNlcjpzZWNyZXQ="  // user:secret
  private let bench: ToolBench

  init() throws {
    bench = try ToolBench()
    bench.origin.fallback { request in
      request.header("Authorization") == Self.basic ? .text("in") : .text("out", status: 401)
    }
  }

  @Test(
    arguments: [
      ("--user user:secret", "", []), ("-u user", "", ["NETSPOOL_PASSWORD=secret"]),
      ("-u user --password-file password", "", []), ("-u user --password-file -", "secret\n", []),
    ] as [(String, String, [String])])
  func `the password comes by several ways`(words: String, input: String, environment: [String]) throws {
    try bench.write("password", ["secret", "not this"])
    let end = try bench.run("get {u}/ \(words)", input: input, environment: environment)
    #expect(end.exit == .status(0) && end.output == "in", "\(end)")
    #expect(bench.origin.requestCount == 1)
  }

  @Test func `a wrong one is a failure that does not show it`() throws {
    let end = try Tool.run(["get", bench.origin.url("/"), "-u", "user:wr0ng", "-v"])
    #expect(end.exit == .status(1) && end.output == "out")
    #expect(end.errors.contains("the server did not let us in") && !end.errors.contains("wr0ng"))
  }

  @Test func `NTLM asks for itself`() throws {
    bench.origin.fallback(Answer.text("out", status: 401).header("WWW-Authenticate", "NTLM"))
    let line = "get {u}/ -u D\\user:secret --ntlm"
    try bench.run(line).expect(status: 1, saying: "the server did not let us in")
    #expect(bench.origin.requests.first?.header("Authorization")?.hasPrefix("NTLM ") == true)
  }

  /// 0.0.0.0 leads to this machine, but nobody can tell by its name.
  @Test func `the password goes in clear only when told to`() throws {
    let arguments = ["get", bench.origin.url("/", host: "0.0.0.0"), "-u", "user:secret"]
    let refused = try Tool.run(arguments)
    #expect(refused.exit == .status(64) && bench.origin.requestCount == 0, "\(refused)")
    #expect(refused.errors.contains("--in-clear") && !refused.errors.contains("secret"), "\(refused.errors)")
    let allowed = try Tool.run(arguments + ["--in-clear"])
    #expect(allowed.exit == .status(0) && allowed.output == "in")
  }

  @Test func `a netrc that is not there is an error only where it was named`() throws {
    for (words, status) in [("-n", 1), ("--netrc-optional --netrc-file none", 1), ("--netrc-file none", 74)] {
      let end = try bench.run("get {u}/ \(words)", environment: ["HOME=\(bench[""])"])
      #expect(end.exit == .status(Int32(status)), "\(words): \(end.errors)")
    }
    #expect(bench.origin.requestCount == 2)
  }

  @Test(arguments: ["-u a:b", "--oauth2-bearer t", "-n", "-u a:b --aws-sigv4 aws:amz:r:s"])
  func `a request that is asked for is not frozen`(_ words: String) throws {
    let line = "post {u}/ -d x=y --freeze --frozen-store \(bench["store"]) \(words)"
    let end = try bench.run(line)
    #expect(end.exit == .status(64) && bench.origin.requestCount == 0, "\(end)")
  }

  @Test(arguments: [
    "post {u}/ -d @-", "post {u}/ --json @-", "post {u}/ -T -", "get {u}/ --url-query @-", "get {u}/ -H @-",
    "get {u}/ -d @/dev/stdin", "fetch -",
  ])
  func `what holds a password is read by nothing else`(line: String) throws {
    let input = "sesame\n\(bench.origin.url("/"))\n"
    let end = try bench.run("\(line) -u user --password-file -", input: input)
    // What is sent as it comes is opened last.
    let status: Int32 = line.contains("-T") ? 74 : 64
    #expect(end.exit == .status(status) && end.errors.hasSuffix(": '-' can be given once\n"), "\(end)")
    #expect(bench.origin.requestCount == 0 && !end.errors.contains("sesame"))
  }
}
