import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// Lists and command lines of people who know other tools.
@Suite(.ownThreads) struct StrangersTests {
  private let bench: ToolBench

  init() throws { bench = try ToolBench() }

  private func get(_ line: String) throws -> Tool.End { try bench.run("get \(line)") }

  private func fetch(_ line: String) throws -> Tool.End { try bench.fetch("--no-cache \(line)") }

  // MARK: Time and repetitions

  @Test func `max-time is for each attempt, and retry-max-time for all`() throws {
    bench.origin.on("/", .noAnswer)
    let each = try get("{u}/ -m 0.5 --retry 2 --retry-delay 10ms -w %{num_retries}")
    each.expect(status: 1, saying: "--max-time")
    #expect(each.output == "2", "\(each)")
    let whole = try get("{u}/ --retry 90 --retry-max-time 0.5 -w %{num_retries}")
    #expect(whole.exit == .status(1) && whole.output == "0", "\(whole)")
  }

  @Test(arguments: [408, 429, 500, 503])
  func `a POST is sent again where the command line says how often`(status: Int) throws {
    bench.origin.on("/", .status(status))
    _ = try bench.run("post {u}/ -d a=b")
    #expect(bench.origin.requestCount == 1)
    _ = try bench.run("post {u}/ -d a=b --retry 2 --retry-delay 1ms")
    #expect(bench.origin.requestCount == 4)
  }

  @Test func `retry-all-errors repeats what would fail again`() throws {
    bench.origin.on("/", .status(404))
    _ = try get("{u}/ --retry 1 --retry-delay 1ms")
    #expect(bench.origin.requestCount == 1)
    _ = try get("{u}/ --retry 1 --retry-delay 1ms --retry-all-errors")
    #expect(bench.origin.requestCount == 3)
  }

  @Test func `a body that is too long is given up`() throws {
    bench.origin.on("/", .pattern(300_000))
    try fetch("{u}/ -o out --max-filesize 100k --retry 0").expect(status: 1, saying: "the body is too long")
    #expect(LandingFolder.isEmpty(bench["out"]))
  }

  // MARK: What is sent

  @Test(arguments: ["multipart/form-data", "multipart/related", "multipart/mixed; charset=utf-8"])
  func `a type of the user's own gets the boundary`(type: String) throws {
    bench.origin.on("/", .text("ok"))
    let words = ["post", bench.origin.url("/"), "-F", "a=b", "-H", "Content-Type: \(type)"]
    _ = try Tool.run(words)
    let sent = try #require(bench.origin.requests.first)
    let field = try #require(sent.header("Content-Type"))
    let boundary = try #require(field.split(separator: "boundary=").last)
    #expect(field.hasPrefix("\(type); boundary="))
    #expect(sent.text.hasPrefix("--\(boundary)\r\n"))
    let shown = try Tool.run(words + ["--curl"]).output
    #expect(!shown.contains("boundary=") && shown.contains(type) == (type != "multipart/form-data"))
  }

  @Test func `blanks and letters beyond ASCII are sent escaped, and name files`() throws {
    bench.origin.on("/a%20b/%C3%BC.txt", .text("one"))
    bench.origin.on("/q") { $0.target == "/q?x=%C3%A9%20y" ? .text("two") : .status(400) }
    try bench.write("list", ["{u}/a b/\u{FC}.txt", "{u}/q?x=\u{E9} y\tnamed"])
    try fetch("list -o out").expect(status: 0)
    #expect(bench.text("out/\u{FC}.txt") == "one" && bench.text("out/named") == "two")
    #expect(try Tool.run(["get", bench.origin.url("/a b/\u{FC}.txt")]).output == "one")
  }

  @Test func `a host in Unicode is asked as its punycode, also where a Location leads there`() throws {
    bench.origin.on("/", .text("books"))
    bench.origin.on("/away", .redirect(to: "http://B\u{FC}cher.example:\(bench.origin.port)/"))
    let way = "--resolve xn--bcher-kva.example:\(bench.origin.port):127.0.0.1"
    let typed = "http://b\u{FC}cher.example:\(bench.origin.port)/"
    for url in [typed, "{u}/away"] { #expect(try get("\(url) \(way)").output == "books", "\(url)") }
    for request in bench.origin.requests where request.target == "/" {
      #expect(request.header("Host") == "xn--bcher-kva.example:\(bench.origin.port)")
    }
    try bench.write("list", [typed])
    try fetch("list -o out --results r \(way)").expect(status: 0)
    #expect(try bench.results("r").map(\.url) == [typed])
  }

  @Test func `URLs that differ in their fragments are one`() throws {
    bench.serve(1..<2)
    let end = try fetch("{u}/1 {u}/1#a {u}/1#b")
    #expect(end.exit == .status(0) && bench.origin.requestCount == 1, "\(end.errors)")
  }

  // MARK: What is written

  @Test func `an answer that is not newer writes nothing, though it is whole`() throws {
    bench.origin.on("/", Answer.text("old").header("Last-Modified", "Thu, 01 Jan 2015 00:00:00 GMT"))
    try bench.write("file", ["mine"])
    func get(since time: String, _ words: [String] = []) throws -> Tool.End {
      try Tool.run(["get", bench.origin.url("/"), "-z", time] + words, in: bench[""])
    }
    for words in [["-o", "file"], ["-R", "-o", "file"], []] {
      let end = try get(since: "1 Jan 2020", words)
      #expect(end.exit == .status(0) && end.output.isEmpty, "\(end)")
    }
    #expect(bench.text("file") == "mine\n")
    #expect(try get(since: "1 Jan 2010").output == "old" && get(since: "-1 Jan 2020").output == "old")
    bench.origin.on("/", .status(304))
    try get(since: "1 Jan 2020", ["-o", "file"]).expect(status: 0)
    #expect(bench.text("file") == "mine\n")
  }

  @Test func `a file that is as new as before has its length in the results, and is done`() throws {
    bench.origin.on("/f") { request in
      request.header("If-Modified-Since") == nil
        ? Answer.text("hello").header("Last-Modified", "Thu, 01 Jan 2015 00:00:00 GMT") : .status(304)
    }
    let line = "{u}/f -o out --newer --results r"
    _ = try fetch(line)
    try fetch(line).expect(status: 0, saying: "as new as before")
    #expect(try bench.results("r").map(\.end.bytes) == [5])
    try fetch("\(line) --resume").expect(status: 0)
    #expect(bench.origin.requestCount == 2)
  }

  @Test func `binary bytes go to a terminal only when it is named`() throws {
    bench.origin.on("/", .bytes([0x50, 0, 1, 2], type: "application/octet-stream"))
    bench.origin.on("/error", .text("P\0", status: 404))
    func run(_ words: String) throws -> String {
      let tool = try Tool.path()
      return try Tool.run(
        ["-qec", "\(tool) get \(words) 2>\(bench["err"])", "/dev/null"], program: "/usr/bin/script"
      ).output
    }
    #expect(try !run(bench.origin.url("/")).contains("P"))
    #expect(try #require(bench.text("err")).contains("would garble the terminal: -o FILE"))
    #expect(try !run(bench.origin.url("/error")).contains("P"))
    #expect(try run("-o - \(bench.origin.url("/"))").contains("P"))
  }

  // MARK: Results

  @Test func `a results file is one process's at a time`() throws {
    bench.origin.on("/slow", .noAnswer)
    bench.serve(1..<2)
    let first = try bench.start("fetch {u}/slow --no-cache --results r --retry 0")
    #expect(bench.origin.blockForRequests(1))
    for more in ["", "--resume"] {
      try fetch("{u}/1 --results r \(more)").expect(status: 74, saying: "another process writes it")
    }
    first.signal(SIGKILL)
    _ = first.wait()
  }

  @Test func `files are called as the answer says, once each, and resumed by that name`() throws {
    for number in 0..<3 {
      bench.origin.on(
        "/\(number)",
        Answer.text("\(number)").header("Content-Disposition", "attachment; filename=\"a b.txt\""))
    }
    bench.origin.on("/go", .redirect(to: "/end.bin"))
    bench.origin.on("/end.bin", .text("end"))
    try bench.write("list", (0..<3).map { "{u}/\($0)" } + ["{u}/go"])
    let line = "list -o out --names header --results r"
    try fetch(line).expect(status: 0)
    #expect(
      try LandingFolder.names(in: bench["out"]).sorted() == ["a b-1.txt", "a b-2.txt", "a b.txt", "end.bin"])
    for record in try bench.results("r") where record.output != "end.bin" {
      #expect(bench.text("out/\(record.output ?? "")") == String(record.url.suffix(1)))
    }
    let count = bench.origin.requestCount
    #expect(try fetch("\(line) --resume").exit == .status(0) && bench.origin.requestCount == count)
    try fetch("{u}/go -o final --names final").expect(status: 0)
    #expect(bench.text("final/end.bin") == "end")
  }

  @Test func `a line with a name keeps its file beside those that answers name, run after run`() throws {
    bench.origin.on("/b", Answer.text("b").header("Content-Disposition", "attachment; filename=b.txt"))
    for path in ["/img", "/other"] { bench.origin.on(path, .text(path)) }
    try bench.write("list", ["{u}/b", "{u}/img\ta.png", "{u}/other\ta.png"])
    for _ in 0..<3 { try fetch("list -o out --names header --results r --resume").expect(status: 0) }
    #expect(try LandingFolder.names(in: bench["out"]).sorted() == ["a-1.png", "a.png", "b.txt"])
    #expect(bench.text("out/a.png") == "/img" && bench.text("out/a-1.png") == "/other")
    #expect(try bench.results("r").count == 3 && bench.origin.requestCount == 3)
  }

  @Test func `a name that cannot be written is its line's failure, and the others go on`() throws {
    for name in ["docs", "a", "b"] {
      let field = "attachment; filename=\(name)"
      bench.origin.on("/\(name)", Answer.text(name).header("Content-Disposition", field))
    }
    try OutputFolder.make(bench["out/docs"])
    for more in ["", "--resume"] {
      let line = "{u}/docs {u}/a {u}/b -o out --names header --results r \(more)"
      try fetch(line).expect(status: 74, saying: "cannot write docs: it is a folder")
    }
    #expect(try LandingFolder.names(in: bench["out"]).sorted() == ["a", "b", "docs"])
    #expect(bench.text("out/a") == "a" && bench.text("out/b") == "b")
    #expect(try bench.results("r").count { $0.end.ending == .done } == 2)
  }

  // MARK: Sentences

  @Test(
    arguments: [
      ("htps://h/", "did you mean 'https://'?"), ("ftp://h/", "only http:// and https://"),
      ("http:/h/x", "'http://h/x'"),
    ])
  func `a scheme that is none gets the sentence that helps`(url: String, sentence: String) throws {
    let end = try fetch(url)
    #expect(end.exit != .status(0) && end.errors.contains(sentence), "\(end.errors)")
    try get(url).expect(status: 64)
  }

  @Test func `a host without scheme and a folder are no lists`() throws {
    let end = try fetch("example.org/a.jpg").expect(status: 74)
    #expect(end.errors.contains("did you mean the URL 'https://example.org/a.jpg'?"))
    #expect(!end.errors.contains("No such file"))
    try fetch(bench[""]).expect(status: 64, saying: "is a folder")
  }
}
