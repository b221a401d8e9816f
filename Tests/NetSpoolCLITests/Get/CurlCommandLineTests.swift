import NetSpool
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// Everyday command lines of curl's users: `netspool get` or `post` in place of `curl` sends the same and writes the same.
///
/// Both programs run in folders of their own, with the same files in them, against the same origin.
@Suite(.ownThreads) struct CurlCommandLineTests {
  private static let program = "/usr/bin/curl"

  /// `{u}` is the origin, `{h}` its host and port.
  static let getLines = [
    "{u}/", "{h}/plain", "-s {u}/a?b=c&d=e", "{u}/a%20b", "-sS {u}/x -o out.txt", "-so out.txt {u}/x",
    "-sO {u}/file.bin",
    "-sOL {u}/redirect", "-L -s {u}/redirect", "-s -o a {u}/1 -o b {u}/2", "-s -O {u}/one -O {u}/two",
    "-s --output-dir sub --create-dirs -o deep/file {u}/x", "-s {u}/1 {u}/2", "-s --url {u}/byname",
    "-sOJ {u}/named", "-s -H 'X-Test: 1' {u}/", "-s -H 'X-Test: 1' -H 'X-Test: 2' {u}/",
    "-s -H 'X-Empty;' {u}/",
    "-s -H 'Accept:' {u}/", "-s -H 'Host: other.example' {u}/", "-s -H @fields.txt {u}/",
    "-s -A tester/1 {u}/",
    "-s -A '' {u}/", "-s -e http://from.example/ {u}/", "-s -u anna:secret {u}/",
    "-s -u anna:secret --basic {u}/",
    "-s --digest -u anna:secret {u}/digest", "-s --anyauth -u anna:secret {u}/digest",
    "-s --oauth2-bearer t0ken {u}/", "-s -n {u}/", "-s --netrc-file my.netrc {u}/", "-s -b 'a=1; b=2' {u}/",
    "-s -b a=1 {u}/", "-s -b cookies.txt {u}/", "-s -c jar.txt -L {u}/login",
    "-s -b none.txt -c jar.txt {u}/login {u}/again -L", "-s -X DELETE {u}/thing", "-sXOPTIONS {u}/",
    "-s -r 0-4 {u}/range",
    "-s -r -4 {u}/range",
    "-s -r 5- -o part {u}/range", "-s -z '1 Jan 2026' {u}/", "-s -z data.txt {u}/",
    "-s -z '-1 Jan 2026' {u}/",
    "-s --compressed {u}/gzip", "-s -f {u}/error", "-s {u}/error", "-s -f -o err.txt {u}/error",
    "-s -m 20 --connect-timeout 5 {u}/", "-s -w '%{http_code} %{size_download} %{content_type}\\n' {u}/x",
    "-s -o /dev/null -w '%{response_code}:%{num_redirects}:%{url_effective}' -L {u}/redirect",
    "-s -w '%header{x-answer}' {u}/", "-s -G -d q=a -d r=b {u}/search",
    "-s -G --data-urlencode 'q=a b&c' {u}/search?x=1",
    "-s -d a=b {u}/form", "-s -x '' {u}/direct", "-s --noproxy '*' {u}/direct",
    "-s -x {h} http://far.example/page",
    "-s -x {h} -U u:p http://far.example/page", "-s -k {u}/", "-s --http1.1 {u}/",
    "-s --resolve far.example:{p}:127.0.0.1 http://far.example:{p}/x", "-s -R -O {u}/dated",
    "-s -T data.txt {u}/put/", "-s -T - {u}/put", "-s --max-redirs 3 -L {u}/redirect", "-sg {u}/x",
    "-s -T data.txt {u}/1 -T noending {u}/2", "-s -T data.txt {u}/1 {u}/2", "-s --url {u}/1 -o a {u}/2 -o b",
    "-s -O {u}/1 -o x {u}/2", "-s -O {u}/1 {u}/2", "-s -T data.txt {u}", "-s -T data.txt {u}/dir/?q=1",
    "-s -T data.txt {u}?q=1", "-s -T data.txt {u}/dir/#part", "-s -G {u}/search", "-s -G -d a=b {u}/search?",
    "-s -G -d a=b {u}/search?c=d&", "-s -H 'User-Agent: mine' -A other {u}/", "-s -r 5 {u}/range",
    "-s -r 0,5 {u}/range",
    "-s -H 'Referer: http://a/' -e http://b/ {u}/", "-s -H 'Cookie: a=b' -b c=d {u}/",
    "-s -H 'Cookie:' -b c=d {u}/",
    "-s -u :pw {u}/", "-s -u : {u}/", "-s -u '' {u}/", "-s -z none -o none {u}/", "-s -z '-no date' {u}/",
    "-s -w @data.txt {u}/", "-s --max-redirs -1 -L {u}/redirect", "-s --netrc-file two.netrc http://z@{h}/",
    "-s --netrc-file two.netrc {u}/", "-s --netrc-optional --netrc-file two.netrc http://z:other@{h}/",
    "-s -H 'User-Agent:' -A other {u}/", "-s -H 'Range: bytes=0-1' -r 2-3 {u}/range",
  ]

  static let postLines = [
    "-s -d a=b {u}/form", "-s -d a=b -d c=d {u}/form", "-sda=b {u}/form", "-s -d @data.txt {u}/form",
    "-s --data-binary @data.txt {u}/form", "-s --data-raw @data.txt {u}/form", "-s -d @- {u}/form",
    "-s --data-urlencode 'a=b c/d' --data-urlencode '=x&y' {u}/form",
    "-s --data-urlencode a@data.txt -d z=1 --data-urlencode 'last one' {u}/form",
    "-s -d a=b -H 'Content-Type: text/plain' {u}/form", "-s -d a=b -H 'Content-Type:' {u}/form",
    "-s --json '{\"a\":1}' {u}/json", "-s --json @data.txt {u}/json",
    "-s --json '{\"a\":' --json '1}' {u}/json",
    "-s --json '{}' -H 'Accept: text/plain' {u}/json", "-s -F a=b -F c=d {u}/form",
    "-s -F file=@data.txt {u}/form",
    "-s -F 'file=@data.txt;type=text/csv;filename=b.csv' {u}/form", "-s -F 'text=<data.txt' {u}/form",
    "-s -F pic=@picture.png -F bin=@noending {u}/form",
    "-s -F 'a=x;type=text/html' --form-string 'b=@x;y' {u}/form",
    "-s -F 'a=x;type=text/html; charset=utf-8' {u}/form", "-s -F 'a=\"a;b\"' {u}/form",
    "-s -F 'a= b ' {u}/form",
    "-s -F 'a=@data.txt;filename=\"a;b\"' {u}/form",
    "-s -F 'a=@\"data.txt\";type=text/x; y=z;filename=q' {u}/form",
    "-s -F 'a=text;filename=f.png' {u}/form", "-s -F 'a=<\"data.txt\"' {u}/form",
    "-s -X PUT -d a=b {u}/form", "-s -X PATCH --json '{}' {u}/json", "-s -u anna:secret -d a=b {u}/form",
    "-s -d a=b -o out.txt {u}/form", "-s -d '' {u}/form", "-s -d a=b {u}/error -w %{http_code}",
    "-s -d -5 {u}/form",
    "-s -d a=b -L {u}/see-other",
  ]

  /// What `--curl` prints is run by a shell.
  static let printedLines = [
    "-s -x {h} -U u:p http://far.example/page", "-s -b cookies.txt {u}/", "-s -c jar.txt -L {u}/login",
    "-sOJ {u}/named", "-s --output-dir sub --create-dirs -o deep/file {u}/x", "-s -R -O {u}/dated",
    "-s --resolve far.example:{p}:127.0.0.1 http://far.example:{p}/x", "-s -H 'Accept:' {u}/",
    "-s -w '%{http_code} a$b\\n' {u}/x", "-s -f {u}/error", "-s -o a {u}/1 -o b {u}/2",
    "-s -C - -o part {u}/range",
    "-s --max-redirs 0 -L {u}/redirect", "-s --noproxy '*' {u}/direct",
    "-s -A '' -e http://from.example/ {u}/",
    "-s -u anna:secret {u}/", "-s --digest -u anna:secret {u}/digest", "-s -n {u}/", "-s -z data.txt {u}/",
    "-s -G -d a=b {u}/search", "-s -T data.txt {u}/put/", "-s -m 20 --connect-timeout 1.5 --retry 1 {u}/",
    "-s -d a=b -d c=d {u}/form", "-s -F file=@data.txt {u}/form", "-s --json '{}' {u}/json",
  ]

  @Test(arguments: printedLines) func `the printed command does what curl does`(line: String) throws {
    let curls = try deed(line, program: Self.program, first: [])
    let printed = try deed(line, program: nil, first: ["get", "--curl"])
    #expect(printed == curls, "\(line)\n\(printed)\ncurl:\n\(curls)")
  }

  @Test func `the printed command has every option`() throws {
    let options = """
      --compressed --max-time 5 --retry 5 --limit-rate 5120 --proxy http://p:1 --proxy-user a:b --noproxy h --insecure \
      --cacert ca --capath dir --resolve h:80:127.0.0.1,[::1] --unix-socket s --connect-timeout 0.250 --http1.1 --location \
      --max-redirs 3 --cookie jar --cookie-jar new --remote-name --continue-at - --remote-header-name --create-dirs \
      --remote-time --include --fail --silent --show-error --verbose --no-progress-meter --progress-bar --no-buffer \
      --output-dir d --dump-header head --write-out %{http_code}
      """.split(separator: " ").map(String.init)
    let words = ["get", "--curl", "http://h/", "--cert", "c:pw", "--key", "k"] + options
    let end = try Tool.run(words)
    let quoted = options.map(ResumeCommand.quoted).joined(separator: " ")
    #expect(end.exit == .status(0) && end.output.hasSuffix(" 'http://h/' \(quoted)\n"), "\(end)")
    #expect(end.output.contains("--cert 'c:pw' --key 'k'"))
    let refused = try Tool.run(["get", "--curl", "http://h/", "-H", "Content-Length: 3"])
    #expect(refused.exit == .status(64) && refused.output.isEmpty, "\(refused)")
  }

  @Test(arguments: getLines) func `get does what curl does`(line: String) throws { try compare("get", line) }

  @Test(arguments: postLines) func `post does what curl does`(line: String) throws {
    try compare("post", line)
  }

  /// What one program did.
  private struct Deed: Equatable, CustomStringConvertible {
    var requests: [String] = []
    var output = ""
    var files: [String] = []
    var isWell = true

    var description: String {
      "\(requests.joined(separator: "\n"))\n--- \(output)\n--- \(files)\n--- \(isWell ? "well" : "failed")"
    }
  }

  private func compare(_ command: String, _ line: String) throws {
    let curls = try deed(line, program: Self.program, first: [])
    let ours = try deed(line, program: nil, first: [command])
    #expect(ours == curls, "\(line)\n\(ours)\ncurl:\n\(curls)")
  }

  private func deed(_ line: String, program: String?, first: [String]) throws -> Deed {
    let origin = try ScriptedOrigin()
    origin.fallback(Self.answer)
    let folder = try TestFolder()
    try Self.furnish(folder)
    let host = "127.0.0.1:\(origin.port)"
    let words = Self.words(
      line.replacingAll("{u}", "http://\(host)").replacingAll("{h}", host)
        .replacingAll("{p}", "\(origin.port)"))
    let readsInput = line.contains("@-") || line.contains("-T -")
    let environment = ["HOME=\(folder.path)", "XDG_CONFIG_HOME=\(folder.path)/none"]
    var end = try Tool.run(
      first + words, program: program, in: folder.path, input: readsInput ? "from\na pipe" : "",
      environment: environment)
    if first.contains("--curl") {
      end = try Tool.run(
        ["-c", end.output], program: "/bin/sh", in: folder.path, environment: environment)
    }
    var deed = Deed()
    deed.requests = origin.requests.map {
      Self.text($0, line).replacingAll(host, "HOST").replacingAll(":\(origin.port)", ":PORT")
    }
    deed.output = end.output.replacingAll(host, "HOST")
    deed.files = try Self.files(folder, in: "")
    // curl counts an answer of 404 among the good ones unless told otherwise.
    deed.isWell = end.exit == .status(0) || line.contains("/error") && !line.contains("-f")
    return deed
  }

  private static func furnish(_ folder: TestFolder) throws {
    try folder.write("data.txt", "first\nsecond\n")
    // One for both, for -z.
    FileTime.set(folder["data.txt"], ["Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"])
    try folder.write("picture.png", "no picture")
    try folder.write("noending", "bytes")
    try folder.write("cookies.txt", "127.0.0.1\tFALSE\t/\tFALSE\t0\tkept\tyes\n")
    try folder.write("fields.txt", "X-One: 1\nX-Two: 2\n")
    try folder.write(
      ".netrc", Array("machine 127.0.0.1 login anna password secret\n".utf8), permissions: 0o600)
    try folder.write(
      "two.netrc",
      Array("machine 127.0.0.1 login a password b\nmachine 127.0.0.1 login z password y\n".utf8),
      permissions: 0o600)
    try folder.write("my.netrc", Array("default login \"an na\"\npassword p\n".utf8), permissions: 0o600)
  }

  private static let answer: AnswerClosure = { request in
    switch request.path {
    case "/redirect": return .redirect(to: "/target", status: 302)
    case "/login":
      return Answer.redirect(to: "/target").header("Set-Cookie", "sid=1; Path=/").header("Set-Cookie", "a=b")
    case "/see-other": return .redirect(to: "/target", status: 303)
    case "/error": return .text("no such thing\n", status: 404)
    case "/named":
      return Answer.text("named\n").header("Content-Disposition", "attachment; filename=\"their name.txt\"")
    case "/gzip": return .gzip(Gzip.stored(Array("unpacked\n".utf8)))
    case "/range": return .resumable(100, etag: "\"r\"", for: request)
    case "/dated": return Answer.text("old\n").header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
    case "/digest" where request.header("Authorization") == nil:
      return Answer.status(401).header("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")
    default: return Answer.text("\(request.method) \(request.target)\n").header("X-Answer", "yes")
    }
  }

  private static let fields = [
    "Content-Type", "Authorization", "Proxy-Authorization", "Cookie", "Range", "Referer", "X-Test", "X-Empty",
    "X-One",
    "X-Two", "If-Modified-Since", "If-Unmodified-Since", "Accept", "Host",
  ]

  /// Method, target, fields and body. A boundary is drawn anew each time, as is what a Digest is made of.
  private static func text(_ request: RecordedRequest, _ line: String) -> String {
    var text = "\(request.method) \(request.target)"
    let named = fields + (line.contains("-A") ? ["User-Agent"] : [])
    for name in named {
      for value in request.headers.all(name) {
        text += "\n\(name): \(value.hasPrefix("Digest ") ? "Digest" : value)"
      }
    }
    text += "\n\n\(request.text)"
    let parts = request.header("Content-Type")?.split(separator: "boundary=") ?? []
    return parts.count == 2 ? text.replacingAll(String(parts[1]), "BOUNDARY") : text
  }

  private static func files(_ folder: TestFolder, in path: String) throws -> [String] {
    try TestFiles.names(in: folder.path + path).sorted().flatMap { name in
      let file = "\(path)/\(name)"
      if FileStatus(path: folder.path + file)?.isDirectory == true { return try files(folder, in: file) }
      let isOld = name == "dated"
      let time = isOld ? " \(FileStatus.modified(folder.path + file) ?? 0)" : ""
      let bytes = try folder.read(String(file.dropFirst()))
      let text = String(decoding: bytes, as: UTF8.self)
      // What stands at the head of a jar, and the order of its lines, is everybody's own.
      let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") && !$0.isEmpty }.map(String.init)
      return name == "jar.txt" ? lines.sorted() : ["\(file)\(time): \(text)"]
    }
  }

  /// As a shell splits it: blanks divide, single quotes keep together.
  private static func words(_ line: String) -> [String] {
    var words: [String] = []
    var word: String?
    var isQuoted = false
    for letter in line {
      switch letter {
      case "'":
        isQuoted.toggle()
        word = word ?? ""
      case " " where !isQuoted:
        if let word { words.append(word) }
        word = nil
      default: word = (word ?? "") + String(letter)
      }
    }
    return words + (word.map { [$0] } ?? [])
  }
}

extension String {
  fileprivate func replacingAll(_ mark: String, _ text: String) -> String {
    split(separator: mark, omittingEmptySubsequences: false).joined(separator: text)
  }
}
