import ArgumentParser
import Glibc
import NetSpool
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// What a line of a list may say besides its URL.
@Suite struct ListFormTests {
  private static let digest = String(repeating: "a", count: 64)

  private func items(_ text: String) throws -> ([ListItem], [String]) {
    let (items, broken) = try ListReader.read(text)
    return (
      items, broken.map { $0.description.split(separator: ": ", maxSplits: 1).last.map(String.init) ?? "" }
    )
  }

  @Test(arguments: [
    "http://h/\tname\tsha256=\(digest)\tpriority=high\theader=X: y",
    "http://h/\tout=name\tpriority=high\tsha256=\(digest)\theader=X:y",
    "{\"url\":\"http://h/\",\"output\":\"name\",\"sha256\":\"\(digest.uppercased())\",\"priority\":\"high\",\"header\":\"X: y\"}",
    "url,out,note,sha256,priority,header\n\"http://h/\",name,\"a, \"\"b\"\"\",\(digest),high,X: y",
  ])
  func `options are read in every form`(text: String) throws {
    let (items, broken) = try items(text)
    #expect(broken.isEmpty && items.count == 1)
    let item = try #require(items.first)
    #expect(item.url == "http://h/" && item.name == "name")
    #expect(item.options.sha256 == Self.digest && item.options.priority == .high)
    #expect(item.options.headers == [HeaderField(name: "X", value: "y")])
  }

  @Test(arguments: [
    "http://h/\tname\tsha256=abc", "http://h/\tname\tpriority=first", "http://h/\tname\theader=none",
    "http://h/\tname\tother", "{\"url\":\"http://h/\"", "{\"sha256\":\"\(digest)\"}",
  ])
  func `what says nothing is a broken line`(text: String) throws {
    let (items, broken) = try items(text)
    #expect(items.isEmpty && broken.count == 1)
  }

  @Test(arguments: [
    "http://h/\tname\tmirror=http://i/?a=b\tmirror=https://j/",
    "http://h/\thttp://i/?a=b\thttps://j/\tout=name",
    "{\"url\":\"http://h/\",\"out\":\"name\",\"mirrors\":[\"http://i/?a=b\",\"https://j/\"]}",
    "{\"url\":\"http://h/\",\"out\":\"name\",\"mirror\":\"http://i/?a=b\",\"mirrors\":[\"https://j/\"]}",
  ])
  func `a line may have several URLs`(text: String) throws {
    let (items, broken) = try items(text)
    #expect(broken.isEmpty && items.map(\.url) == ["http://h/"] && items.map(\.name) == ["name"])
    #expect(items.first?.options.mirrors == ["http://i/?a=b", "https://j/"])
    let words = [items[0].url, "name"] + items[0].options.words
    #expect(try self.items(words.joined(separator: "\t")).0.map(\.options) == items.map(\.options))
    for wrong in [
      "http://h/\tmirror=ftp://i/", "http://h/\thttp://", "{\"url\":\"http://h/\",\"mirrors\":[1]}",
    ] { #expect(try self.items(wrong).1.count == 1, "\(wrong)") }
  }

  @Test func `a name with an equals sign is written as one`() throws {
    #expect(try items("http://h/\tout=a=b.png").0.first?.name == "a=b.png")
    let line = LineForm.line("http://h/", "a=b.png", LineOptions())
    #expect(try items(String(decoding: line, as: UTF8.self)).0.first?.name == "a=b.png")
  }

  @Test(
    arguments: [
      ("http://h/\tsha265=\(digest)", "unknown option 'sha265': did you mean 'sha256'?"),
      ("http://h/\tSHA256=\(digest)", "unknown option 'SHA256': did you mean 'sha256'?"),
      ("http://h/\twhat=x", "unknown option 'what': a name with '=' is written out=NAME"),
      ("http://h/\tname\twhat=x", "unknown option 'what': a name with '=' is written out=NAME"),
      ("http://h/\tmiror=http://i/", "unknown option 'miror': did you mean 'mirror'?"),
      (#"{"url":"http://h/","sha-256":"\#(digest)"}"#, "unknown key 'sha-256': did you mean 'sha256'?"),
      (#"{"url":"http://h/","SHA256":"\#(digest)"}"#, "unknown key 'SHA256': did you mean 'sha256'?"),
      (#"{"url":"http://h/","headers":["a: b"]}"#, "unknown key 'headers': did you mean 'header'?"),
      ("url,sha265\nhttp://h/,\(digest)\nhttp://i/,\(digest)", "unknown column 'sha265'"),
      ("url,mirrors\nhttp://h/,http://i/", "unknown column 'mirrors': did you mean 'mirror'?"),
      (#"{"url":5}"#, "'url' is no text in quotes"),
      (#"{"url":"http://h/","sha256":5}"#, "'sha256' is no text"),
      (#"{"url":"http://h/","mirrors":"http://i/"}"#, "'mirrors' is an array of URLs"),
      (#"{"url":"http://h/","mirrors":[null]}"#, "'mirror' is no text in quotes"),
    ])
  func `a mistyped key is told, as a digest would go unchecked`(text: String, sentence: String) throws {
    let (items, broken) = try items(text)
    #expect(items.isEmpty && broken.count == 1 && broken[0].hasPrefix(sentence), "\(items) \(broken)")
  }

  @Test(arguments: [
    (#"{"url":"http://h/","sha256":null,"mirrors":null,"out":null}"#, 0),
    (#"{"url":"http://h/","note":{"sha":[1]},"title":"x","hash":5,"sha512":"ff"}"#, 4),
    ("url,title,our,sha512\nhttp://h/,a,b,c", 3),
  ])
  func `other keys are the user's own, and null is none`(text: String, count: Int) throws {
    let (items, broken) = try items(text)
    #expect(broken.isEmpty && items.map(\.url) == ["http://h/"])
    var options = try #require(items.first).options
    #expect(options.others.count == count)
    options.others = []
    #expect(options == LineOptions())
    #expect(items.first?.name == nil)
  }

  @Test func `lines are counted as they are read`() throws {
    let folder = try TestFolder()
    let text = "# comment\n\nhttp://h/1\r\n  http://h/2\n\t\n#\nhttp://h/3"
    #expect(LineCounter.lines(of: try folder.write("list", text)) == 3)
    let long = (0..<100_000).map { "http://h/\($0)\n" }.joined()
    #expect(LineCounter.lines(of: try folder.write("long", long)) == 100_000)
    #expect(LineCounter.lines(of: folder["none"]) == nil)
  }
}

/// `$XDG_CONFIG_HOME/netspool/config`.
@Suite struct ConfigFileTests {
  private func words(_ text: String, _ command: String = "get") throws -> [String] {
    try ConfigFile.lines(of: text, at: "config", for: command).map(\.word)
  }

  @Test func `a detour of the command line takes the place of those of the file`() throws {
    let folder = try TestFolder()
    _ = unsafe mkdir(folder["netspool"], 0o700)
    try TestFiles.write("connect-to = a:80:b:1\nipv4\n".utf8, to: folder["netspool/config"])
    let environment = Environment(["XDG_CONFIG_HOME": folder.path])
    let given = ["get", "--connect-to=a:80:b:1", "--ipv4", "u"]
    #expect(try ConfigFile.completed(["get", "u"], environment) == given)
    let own = ["get", "--connect-to", "a:80:c:1", "-6", "u"]
    #expect(try ConfigFile.completed(own, environment) == ["get", "--ipv4"] + own.dropFirst())
  }

  @Test(
    arguments: [
      (
        "# mine\nuser-agent = \"me too\"\n--retry 5\ninsecure\nsilent = no\njobs = 8\nheader: X: y", "get",
        ["--user-agent=me too", "--retry=5", "--insecure", "--header=X: y"]
      ),
      ("jobs = 8", "fetch", ["--jobs=8"]),
      ("location = false\ncompressed = off", "get", ["--no-location", "--no-compressed"]),
      ("no-location = false\nno-location", "get", ["--location", "--no-location"]),
      ("continue = false", "fetch", ["--no-continue"]),
      ("continue = false\nsilent = no", "get", ["--no-continue"]),
      ("no-cache = false", "fetch", []), ("fail = false", "post", ["--no-fail"]),
      (
        "\u{FEFF}silent\r\nretry = 5\r\n\r\nuser-agent = \"a\"\r\n", "get",
        ["--silent", "--retry=5", "--user-agent=a"]
      ),
      (#"header = "X: \"a\" \\ b\t""#, "get", ["--header=X: \"a\" \\ b\t"]),
      (#"user-agent = it's "quoted""#, "get", [#"--user-agent=it's "quoted""#]),
    ] as [(String, String, [String])])
  func `a flag can be turned off, and values are as curl's`(text: String, command: String, words: [String])
    throws
  {
    #expect(try self.words(text, command) == words)
  }

  @Test func `what the configuration turns off is off`() throws {
    let words = try words("continue = false", "fetch")
    #expect(try !FetchCommand.parse(["l"] + words).continues)
    #expect(try GetCommand.parse(["http://h/", "--no-location", "--location"]).connection.location)
  }

  @Test(arguments: [
    ("silent = maybe", "true or false"), ("user-agent = \"a\" b", "quotes around a value end with it"),
    ("user-agent = \"a", "quotes around a value end with it"), ("retr = 5", "did you mean 'retry'?"),
    ("retry", "needs a value"), ("insecure = 5", "true or false"),
  ])
  func `a mistake is one sentence`(text: String, part: String) throws {
    let mistake = #expect(throws: Mistake.self) { try words("\n\(text)") }
    #expect(
      mistake?.description.hasPrefix("config:2: ") == true && mistake?.description.contains(part) == true)
  }
}

/// What `doctor` thinks.
@Suite struct DoctorCheckTests {
  @Test func `variables are judged`() {
    #expect(DoctorCheck.proxy(Environment([:])).verdict == .ok)
    #expect(DoctorCheck.proxy(Environment(["http_proxy": "proxy:3128"])).verdict == .ok)
    #expect(DoctorCheck.proxy(Environment(["all_proxy": "socks4://proxy"])).verdict == .bad)
    #expect(DoctorCheck.proxy(Environment(["HTTP_PROXY": "http://proxy"])).verdict == .warn)
    #expect(DoctorCheck.authorities(Environment(["SSL_CERT_FILE": "/none"])).verdict == .bad)
    #expect(DoctorCheck.authorities(Environment(["CURL_CA_BUNDLE": "/dev/null"])).verdict == .ok)
  }

  @Test func `limits are judged`() {
    #expect(
      DoctorCheck.codings(["gzip", "deflate", "br"]).text == "gzip, deflate, br; more with the traits Zstd")
    #expect(DoctorCheck.codings(["gzip", "br", "zstd"]).text == "gzip, br, zstd")
    #expect(DoctorCheck.files((soft: 100, hard: 100)).verdict == .bad)
    #expect(DoctorCheck.files((soft: 1_024, hard: 4_096)).verdict == .warn)
    #expect(DoctorCheck.files((soft: 65_536, hard: 65_536)).verdict == .ok)
    #expect(DoctorCheck.disk("/d", 1 << 20).verdict == .bad)
    #expect(DoctorCheck.disk("/d", 1 << 29).verdict == .warn)
    #expect(DoctorCheck.disk("/d", 1 << 40).verdict == .ok)
    #expect(DoctorCheck.disk("/d", nil).verdict == .bad)
  }
}

/// `--tree`.
@Suite struct OutputTreeTests {
  @Test(
    arguments: [
      (.flat, "http://h/a/b.png", "b.png"), (.host, "http://H:80/a/b.png", "h/b.png"),
      (.path, "http://h/a/%2e%2e/b.png?q", "h/a/_./b.png"), (.path, "http://h/", "h/index"),
      (.path, "http://h//a//b", "h/a/b"), (.hash2, "http://h/a/b.png", "0e/b.png"),
    ] as [(OutputTree, String, String)])
  func `names stay inside the folder`(tree: OutputTree, url: String, name: String) {
    #expect(tree.name(of: url) == name)
  }
}
