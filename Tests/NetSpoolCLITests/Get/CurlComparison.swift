import NetSpool
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// What curl does with a command line, and what we do: each program runs in a folder of its own, with the same files in it,
/// against an origin of its own that answers the same.
struct CurlComparison {
  static let program = "/usr/bin/curl"

  /// With an authority that nobody knows; `ca.pem` has it.
  var speaksTLS = false
  /// `name=value`, for both.
  var environment: [String] = []
  /// What stands for `{name}`; `{u}` is the origin, `{h}` its host and port, `{p}` its port.
  var values: [String: String] = [:]

  /// Lines for which curl 8 has another answer than curl 7, with which we stay: it names no file behind a query, and writes a
  /// scheme in small letters.
  private static let changed: Set = [
    "-s -T data.txt {u}?q=1", "-s -T data.txt {u}/dir/?q=1", "-s -k -w '%{http_version} %{scheme}' {u}/",
  ]
  private static let isSeven = (try? Curl.run("--version").output.hasPrefix("curl 7.")) ?? false

  /// The curl of this machine does what we promise to do as well.
  static func isModel(_ line: String) -> Bool { isSeven || !changed.contains(line) }

  /// What one program did.
  struct Deed: Equatable, CustomStringConvertible {
    var requests: [String] = []
    var output = ""
    var files: [String] = []
    var isWell = true

    var description: String {
      "\(requests.joined(separator: "\n"))\n--- \(output)\n--- \(files)\n--- \(isWell ? "well" : "failed")"
    }
  }

  /// - Parameter command: ours, `get --curl` for instance.
  /// - Returns: the ports of both origins.
  @discardableResult
  func expectSame(_ command: String, _ line: String) throws -> [Int] {
    let (curls, curlsPort) = try deed(line, program: Self.program, first: [])
    let (ours, port) = try deed(line, program: nil, first: Self.words(command))
    #expect(ours == curls, "\(environment) \(line)\n\(ours)\ncurl:\n\(curls)")
    return [curlsPort, port]
  }

  private func deed(_ line: String, program: String?, first: [String]) throws -> (Deed, port: Int) {
    let origin = try ScriptedOrigin(tls: speaksTLS ? .selfSigned : nil)
    origin.fallback(Self.answer)
    let folder = try TestFolder()
    try Self.furnish(folder)
    if let authority = origin.certificateAuthority {
      try folder.write("ca.pem", authority)
      try folder.write("other.pem", Self.stranger ?? "")
    }
    let host = "127.0.0.1:\(origin.port)"
    func filled(_ text: String) -> String {
      let values = values.merging(["u": origin.url(""), "h": host, "p": "\(origin.port)"]) { $1 }
      return values.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) }
    }
    let words = Self.words(filled(line))
    let readsInput = line.contains("@-") || line.contains("-T -")
    let environment =
      ["HOME=\(folder.path)", "XDG_CONFIG_HOME=\(folder.path)/none"] + environment.map(filled)
    var end = try Tool.run(
      first + words, program: program, in: folder.path, input: readsInput ? "from\na pipe" : "",
      environment: environment)
    if first.contains("--curl") {
      end = try Tool.run(["-c", end.output], program: "/bin/sh", in: folder.path, environment: environment)
    }
    var deed = Deed()
    deed.requests = origin.requests.map {
      Self.text($0, line).replacing(host, with: "HOST").replacing(":\(origin.port)", with: ":PORT")
    }
    deed.output = Self.undated(end.output.replacing(host, with: "HOST"))
    deed.files = try Self.files(folder, in: "")
    // curl counts an answer of 404 among the good ones unless told otherwise.
    deed.isWell = end.exit == .status(0) || line.contains("/error") && !line.contains("-f")
    return (deed, origin.port)
  }

  private static func furnish(_ folder: TestFolder) throws {
    try folder.write("data.txt", "first\nsecond\n")
    // One for both, for -z.
    FileTime.set(folder["data.txt"], ["Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"])
    try folder.write("picture.png", "no picture")
    try folder.write("noending", "bytes")
    try folder.write("cookies.txt", "127.0.0.1\tFALSE\t/\tFALSE\t0\tkept\tyes\n")
    try folder.write("fields.txt", "X-One: 1\nX-Two: 2\n")
    for (name, text) in [
      (".netrc", "machine 127.0.0.1 login anna password secret\n"),
      ("two.netrc", "machine 127.0.0.1 login a password b\nmachine 127.0.0.1 login z password y\n"),
      ("my.netrc", "default login \"an na\"\npassword p\n"),
    ] { try folder.write(name, Array(text.utf8), permissions: 0o600) }
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
    case "/raw":
      let early =
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 Fine  by me\r\nX-OdD:no-space\r\n"
      return .raw(
        Array(early.utf8) + Array("X-Name: caf".utf8) + [0xE9] + Array("\r\nContent-Length: 2\r\n\r\nok".utf8)
      )
    case "/trailers":
      let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      return .raw(head + "2\r\nok\r\n0\r\nX-Sum: 42\r\nx-two: b\r\n\r\n")
    case "/gzip": return .gzip(Gzip.stored(Array("unpacked\n".utf8)))
    case "/range": return .resumable(100, etag: "\"r\"", for: request)
    case "/dated": return Answer.text("old\n").header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
    case "/digest" where request.header("Authorization") == nil:
      return Answer.status(401).header("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")
    default: return Answer.text("\(request.method) \(request.target)\n").header("X-Answer", "yes")
    }
  }

  private static let fields = [
    "Content-Type", "Authorization", "Proxy-Authorization", "Cookie", "Range", "Referer", "X-Test",
    "X-Empty", "X-One", "X-Two", "If-Modified-Since", "If-Unmodified-Since", "Accept", "Host",
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
    return parts.count == 2 ? text.replacing(parts[1], with: "BOUNDARY") : text
  }

  private static func files(_ folder: TestFolder, in path: String) throws -> [String] {
    // Each origin has an authority of its own.
    let names = TestFiles.names(in: folder.path + path).filter { !$0.hasSuffix(".pem") }
    return try names.sorted().flatMap { name in
      let file = "\(path)/\(name)"
      if FileFacts(path: folder.path + file)?.isDirectory == true { return try files(folder, in: file) }
      let isOld = name == "dated"
      let time = isOld ? " \(FileFacts.modified(folder.path + file) ?? 0)" : ""
      let bytes = try folder.read(String(file.dropFirst()))
      let text = undated(String(decoding: bytes, as: UTF8.self))
      // What stands at the head of a jar, and the order of its lines, is everybody's own.
      let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") && !$0.isEmpty }.map(String.init)
      return name == "jar.txt" ? lines.sorted() : ["\(file)\(time): \(text)"]
    }
  }

  /// An authority that signed nothing here.
  private static let stranger = try? ScriptedOrigin(tls: .selfSigned).certificateAuthority

  /// Without the time at which a server answered.
  private static func undated(_ text: String) -> String {
    text.split(separator: "\r\n", omittingEmptySubsequences: false)
      .filter { !$0.lowercased().hasPrefix("date: ") }.joined(separator: "\r\n")
  }

  /// As a shell splits it: blanks divide, single quotes keep together.
  private static func words(_ line: String) -> [String] {
    line.matches(of: /(?:'[^']*'|[^ '])+/).map { String($0.output).replacing("'", with: "") }
  }
}
