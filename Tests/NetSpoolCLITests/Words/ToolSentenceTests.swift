import ArgumentParser
import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import NetSpoolCLI
@testable import TestSupport

/// What the tool says when something goes wrong: a sentence that says what to do, and never a code alone.
@Suite(.ownThreads) struct ToolSentenceTests {
  private let bench: ToolBench

  init() throws {
    bench = try ToolBench()
    bench.origin.on("/", .text("body"))
  }

  private func get(_ line: String) throws -> Tool.End { try bench.run("get --retry 0 \(line)") }

  @Test(
    arguments: [
      ("-x socks4://h {u}/", 64, "socks4 is not known"), ("-x http://h:99999 {u}/", 64, "a proxy is '["),
      ("-T nope {u}/", 74, "cannot open nope: No such file"),
      ("-F a=@nope {u}/", 74, "cannot open nope: No such file"),
      ("--file nope {u}/", 74, "cannot open nope:"), ("--data-binary @nope {u}/", 74, "cannot open nope:"),
      ("-o nodir/x {u}/", 74, "cannot write nodir/x: No such file or directory; --create-dirs"),
      ("-d abc -H Content-Length:3 {u}/", 64, "leave them out of --header"),
      ("http://127.0.0.1:1/", 1, "nobody listens there"), ("{u}/away", 1, "cannot connect to localhost:1:"),
      ("http://nothing.invalid/", 1, "there is no such host: look at its name"),
      ("http://u:pass#x@127.0.0.1/", 64, "written %2F, %3F and %23"),
      ("-k https://{h}/", 1, "does not speak TLS there"), ("-e x;auto {u}/", 64, "';auto' is not known"),
      ("{u}/loop", 1, "--no-location"), ("http://[::1", 64, "second bracket"),
      ("-u a:b http://x.invalid/", 64, "or with --in-clear"),
      ("-X PUT -d a=b {u}/found", 1, "--no-location shows"),
      ("--resolve *:80:127.0.0.1 {u}/", 64, "a host of '*'"), ("--cacert . {u}/", 64, "--cacert or"),
      ("-C 3 -o out {u}/", 74, ": the server does not send the rest"), ("--loc {u}/", 64, "'--location'"),
      ("-K nope {u}/", 74, "cannot open nope"), ("--connect-to a:1:b {u}/", 64, "--connect-to is 'host1"),
      ("-6 {u}/", 1, "cannot connect to 127.0.0.1"),
      ("-u a --password-file nope {u}/", 74, "cannot open nope"),
      ("--location-trusted {u}/", 64, "--location-trusted is not here"),
      ("-C - -O -J {u}/", 64, "--remote-header-name"), ("-C - -i -o out {u}/", 64, "--include"),
      ("--continue -O -J {u}/", 64, "--remote-header-name"), ("-C - {u}/", 64, "-o or -O names it"),
      ("-u a:b {u}/digest", 1, "the server asks for Digest: add --digest"),
      ("-x 127.0.0.1:1 {u}/", 1, "the proxy cannot be reached: --proxy ''"),
      ("{u}/long", 1, "/long: status 500"),
    ])
  func `a failure says what to do`(line: String, status: Int32, sentence: String) throws {
    bench.origin.on("/loop", .redirect(to: "/loop"))
    bench.origin.on("/found", .redirect(to: "/", status: 302))
    // Its page is longer than any that is shown.
    var long = Answer.pattern(2 << 20)
    long.status = 500
    bench.origin.on("/long", long)
    bench.origin.on("/away", .redirect(to: "http://localhost:1/"))
    bench.origin.on(
      "/digest", Answer.status(401).header("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\""))
    let end = try get(line).expect(status: status, saying: sentence)
    #expect(!end.errors.contains("invalidConfiguration") && !end.errors.contains("threw"))
  }

  @Test(
    arguments: [
      ("-x http://{h}", "the proxy wants to know who you are: --proxy-user"),
      ("-x http://{h} -U a:b", "did not accept --proxy-user"), ("-x http://a:b@{h}", "the user in its URL"),
    ])
  func `a proxy that wants a password says whether one was given`(words: String, sentence: String) throws {
    bench.origin.fallback(Answer.status(407).header("Proxy-Authenticate", "Basic realm=\"r\""))
    for url in ["http://far.example/x", "https://far.example/x"] {
      let end = try get("\(words) \(url)")
      #expect(end.exit == .status(1) && end.errors.contains(sentence), "\(url): \(end.errors)")
    }
  }

  @Test func `a configuration that cannot be read is this machine's`() throws {
    #expect(unsafe mkdir(bench["netspool"], 0o700) == 0 && mkdir(bench["netspool/config"], 0o700) == 0)
    let end = try bench.run("get {u}/", environment: ["XDG_CONFIG_HOME=\(bench[""])"])
    end.expect(status: 74, saying: "netspool/config: it is a folder")
  }

  @Test(arguments: [
    "cache remove", "cache remove h", "cache remove ftp://h/", "cache stats x", "cache shrink", "frozen drop",
    "frozen revive", "frozen show", "frozen show 1 --curl --json", "frozen drop 1 --all", "frozen revive x",
    "frozen thaw x", "frozen melt", "fetch {u}/ -o x.tar.gz", "fetch {u}/ --shard-size 5",
    "fetch {u}/ -o out --shard-size 5", "fetch {u}/ -o x.tar --newer", "fetch {u}/ -o x.tar --skip-existing",
    "get {u}/ --digest", "get {u}/ --ntlm", "get {u}/ --password-file f", "get {u}/ -u a:b --digest --ntlm",
    "get {u}/ -u a:b --password-file f", "get {u}/ -u a", "get {u}/ --aws-sigv4 aws:amz:r:s",
    "get {u}/ -u a:b --aws-sigv4 aws", "get {u}/ -u a:b --aws-sigv4 osc:osc:r:s",
    "get {u}/ -u a:b --aws-sigv4 aws:amz::s", "get {u}/ -u a:b --aws-sigv4 aws:amz:r:s --digest",
    "get {u}/ -u a:b --aws-sigv4 aws:amz", "get {u}/ -u a:b --aws-sigv4 aws:amz:r", "get http:///",
    "get ftp://h/", "get {u}/ -X A\tB", "get {u}/ --timeout -1", "get {u}/ -o a -o b", "get {u}/ -T a -T b",
    "get {u}/ -G -F a=b",
  ])
  func `wrong command lines are usage errors`(line: String) throws {
    try bench.run(line).expect(status: 64)
    #expect(bench.origin.requestCount == 0)
  }

  private static let few = """
    for fd in /proc/$$/fd/*; do fd=${fd##*/}; [ $fd -le 2 ] || eval "exec $fd>&-"; done
    ulimit -n "$0"; exec "$@"
    """

  /// Dispatch ends a process that has no descriptor for its first timer.
  @Test func `a request is frozen with few open files, or refused`() async throws {
    for count in 12...24 {
      let words = ["-c", Self.few, "\(count)", try Tool.path()] + bench.words("post {u}/ -d a=b --freeze")
      let tool = try Tool(words, program: "/bin/bash")
      #expect(await until { tool.isOver || tool.errors.text.contains("waits") })
      tool.signal(SIGTERM)
      let exit = tool.wait()
      #expect([.status(0), .status(1), .status(143)].contains(exit), "\(count): \(String(describing: exit))")
    }
  }

  /// Every limit from the one with which nothing can be opened to those with which all goes well. Descriptors that
  /// the tests have open are nobody's here.
  @Test(arguments: ["get", "fetch", "fetch --no-cache"])
  func `too few open files are named`(command: String) throws {
    var (failures, wholeInRow) = (0, 0)
    for count in 5...40 where wholeInRow < 3 {
      let line = "\(command) {u}/ -o \(bench["out.\(count)"]) --retry 0"
      let words = ["-c", Self.few, "\(count)", try Tool.path()] + bench.words(line)
      let end = try Tool.run(words, program: "/bin/bash")
      guard case .status(let status)? = end.exit, status != 0 else {
        #expect(end.exit == .status(0), "\(count): \(end)")
        wholeInRow += 1
        continue
      }
      (failures, wholeInRow) = (failures + 1, 0)
      #expect(
        end.errors.contains("ulimit -n") || end.errors.contains("Too many open files"), "\(count): \(end)")
      #expect(!end.errors.contains("uv -24") && !end.errors.contains("disk"), "\(count): \(end)")
    }
    #expect(failures > 0 && wholeInRow == 3)
  }

  @Test(
    arguments: [
      (NetworkError(.invalidConfiguration, cause: .trustFile), "--cacert"),
      (NetworkError(.invalidConfiguration, cause: .resolve, reason: "resolve: *:80"), "--resolve is"),
      (NetworkError(.invalidConfiguration, cause: .unixSocket), "--unix-socket"),
      (NetworkError(.sinkFailed, about: "the server says no", reason: "stream 0"), "the server says no"),
    ])
  func `a sentence speaks of options`(error: NetworkError, sentence: String) {
    let text = FailureAdvice.text(error)
    #expect(text.contains(sentence) && !text.contains(error.code.description), "\(text)")
  }

  @Test(
    arguments: [
      (401, "Basic realm=\"r\"", "--user says it"),
      (401, "Digest realm=\"r\", nonce=\"n\"", "--user with --digest"),
      (401, "Bearer", "--oauth2-bearer"), (429, "", "with more --retry"), (503, "", "try again later"),
    ])
  func `a status says what to do`(status: Int, challenge: String, sentence: String) throws {
    bench.origin.on("/s", Answer.text("no", status: status).header("WWW-Authenticate", challenge))
    let end = try get("{u}/s").expect(status: 1)
    #expect(end.errors.contains(sentence) && !end.errors.contains("--rate"), "\(end.errors)")
  }

  @Test func `a body that unpacks too far can be fetched packed`() throws {
    let advice = FailureAdvice.advice(NetworkError(code: .decompressionLimit))
    #expect(advice?.contains("--no-compressed") == true)
  }

  @Test func `a netrc of another user says whose it must be`() throws {
    #expect(Netrc.exposed("n", to: 4_711).description.hasPrefix("n belongs to user 4711, and must be yours"))
    let folder = try TestFolder()
    try folder.write("n", Array("default login a password b\n".utf8), permissions: 0o600)
    guard geteuid() == 0, unsafe chown(folder["n"], 4_711, 4_711) == 0 else { return }
    try get("--netrc-file \(folder["n"]) {u}/").expect(status: 74, saying: "belongs to user 4711")
  }

  @Test(arguments: [
    "retry = many", "header = Cookie hidden", "http1.1\nhttp2", "user = a:b\ndigest\noauth2-bearer = x",
  ])
  func `a wrong value of the configuration is told with its line`(text: String) throws {
    #expect(unsafe mkdir(bench["netspool"], 0o700) == 0)
    try bench.write("netspool/config", ["# mine", text])
    let end = try bench.run("get {u}/", environment: ["XDG_CONFIG_HOME=\(bench[""])"])
    let line = text.split(separator: "\n").count + 1
    end.expect(status: 64, saying: "netspool/config:\(line): ")
    #expect(!end.errors.contains("hidden"))
  }

  @Test func `an unknown variable is named once`() throws {
    for more in ["", "-s "] {
      let line = "\(more){u}/ {u}/ -w %{nope}%{http_code}%{time_total}%{nope}"
      let end = try get(line).expect(status: 0)
      #expect(end.errors == "netspool: --write-out knows no %{nope}: it stays empty\n", "\(line)")
    }
  }

  @Test func `completions know which words are files`() {
    let files = [
      "output", "results", "failed", "har", "cookie", "cookie-jar", "dump-header", "upload-file", "file",
      "cacert", "cert", "key", "unix-socket", "password-file", "netrc-file", "time-cond",
    ]
    let lines = NetSpoolTool.completionScript(for: .fish).split(separator: "\n")
    for name in files + ["output-dir", "capath", "frozen-store", "cache"] {
      let own = lines.filter { $0.contains(" -l '\(name)' ") }
      let mark = files.contains(name) ? " -rF" : "complete_directories"
      #expect(!own.isEmpty && own.allSatisfy { $0.contains(mark) }, "\(name): \(own)")
    }
  }
}
