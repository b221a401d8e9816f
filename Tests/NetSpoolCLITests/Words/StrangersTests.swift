import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// Lists and command lines of people who know other tools.
@Suite(.ownThreads) struct StrangersTests {
  private let bench: ToolBench

  init() throws { bench = try ToolBench() }

  private func get(_ arguments: [String]) throws -> Tool.End { try Tool.run(["get"] + arguments) }

  private func fetch(_ arguments: [String]) throws -> Tool.End {
    try Tool.run(["fetch", "--progress", "never", "--no-cache"] + arguments)
  }

  // MARK: Time and repetitions

  @Test func `max-time is for each attempt, and retry-max-time for all`() throws {
    bench.origin.on("/", .noAnswer)
    let end = try get([bench.origin.url("/"), "-m", "0.5", "--retry", "2", "--retry-delay", "10ms"])
    #expect(end.exit == .status(1) && end.errors.contains("--max-time"), "\(end.errors)")
    #expect(bench.origin.requestCount == 3)
    let whole = try get([bench.origin.url("/"), "--retry", "90", "--retry-max-time", "0.5"])
    #expect(whole.exit == .status(1) && bench.origin.requestCount == 4, "\(whole.errors)")
  }

  @Test(arguments: [408, 429, 500, 503])
  func `a POST is sent again where the command line says how often`(status: Int) throws {
    bench.origin.on("/", .status(status))
    _ = try Tool.run(["post", bench.origin.url("/"), "-d", "a=b"])
    #expect(bench.origin.requestCount == 1)
    _ = try Tool.run(["post", bench.origin.url("/"), "-d", "a=b", "--retry", "2", "--retry-delay", "1ms"])
    #expect(bench.origin.requestCount == 4)
  }

  @Test func `retry-all-errors repeats what would fail again`() throws {
    bench.origin.on("/", .status(404))
    _ = try get([bench.origin.url("/"), "--retry", "1", "--retry-delay", "1ms"])
    #expect(bench.origin.requestCount == 1)
    _ = try get([bench.origin.url("/"), "--retry", "1", "--retry-delay", "1ms", "--retry-all-errors"])
    #expect(bench.origin.requestCount == 3)
  }

  @Test func `a body that is too long is given up`() throws {
    bench.origin.on("/", .pattern(300_000))
    let end = try fetch([bench.origin.url("/"), "-o", bench["out"], "--max-filesize", "100k", "--retry", "0"])
    #expect(end.exit == .status(1) && end.errors.contains("the body is too long"), "\(end.errors)")
    #expect(LandingFolder.isEmpty(bench["out"]))
  }

  // MARK: What is sent

  @Test(arguments: ["multipart/form-data", "multipart/related", "multipart/mixed; charset=utf-8"])
  func `a type of the user's own gets the boundary`(type: String) throws {
    bench.origin.on("/", .text("ok"))
    _ = try Tool.run(["post", bench.origin.url("/"), "-F", "a=b", "-H", "Content-Type: \(type)"])
    let sent = try #require(bench.origin.requests.first)
    let field = try #require(sent.header("Content-Type"))
    let boundary = try #require(field.split(separator: "boundary=").last)
    #expect(field.hasPrefix("\(type); boundary="))
    #expect(String(decoding: sent.body, as: UTF8.self).hasPrefix("--\(boundary)\r\n"))
    let shown = try Tool.run([
      "post", bench.origin.url("/"), "-F", "a=b", "-H", "Content-Type: \(type)", "--curl",
    ])
    #expect(
      !shown.output.contains("boundary=") && shown.output.contains(type) == (type != "multipart/form-data"))
  }

  @Test func `blanks and letters beyond ASCII are sent escaped, and name files`() throws {
    bench.origin.on("/a%20b/%C3%BC.txt", .text("one"))
    bench.origin.on("/q") { $0.target == "/q?x=%C3%A9%20y" ? .text("two") : .status(400) }
    let list = try bench.write(
      "list", [bench.origin.url("/a b/\u{FC}.txt"), bench.origin.url("/q?x=\u{E9} y") + "\tnamed"])
    let end = try fetch([list, "-o", bench["out"]])
    #expect(end.exit == .status(0), "\(end.errors)")
    #expect(bench.text("out/\u{FC}.txt") == "one" && bench.text("out/named") == "two")
    #expect(try get([bench.origin.url("/a b/\u{FC}.txt")]).output == "one")
  }

  @Test func `a host in Unicode is asked as its punycode, also where a Location leads there`() throws {
    bench.origin.on("/", .text("books"))
    bench.origin.on("/away", .redirect(to: "http://B\u{FC}cher.example:\(bench.origin.port)/"))
    let way = ["--resolve", "xn--bcher-kva.example:\(bench.origin.port):127.0.0.1"]
    let typed = "http://b\u{FC}cher.example:\(bench.origin.port)/"
    #expect(try get([typed] + way).output == "books")
    #expect(try get([bench.origin.url("/away")] + way).output == "books")
    for request in bench.origin.requests where request.target == "/" {
      #expect(request.header("Host") == "xn--bcher-kva.example:\(bench.origin.port)")
    }
    let list = try bench.write("list", [typed])
    let end = try fetch([list, "-o", bench["out"], "--results", bench["r"]] + way)
    #expect(end.exit == .status(0), "\(end.errors)")
    #expect(try bench.results("r").map(\.url) == [typed])
  }

  @Test func `URLs that differ in their fragments are one`() throws {
    bench.serve(1..<2)
    let url = bench.origin.url("/1")
    let end = try fetch([url, url + "#a", url + "#b"])
    #expect(end.exit == .status(0) && bench.origin.requestCount == 1, "\(end.errors)")
  }

  // MARK: What is written

  @Test func `an answer that is not newer writes nothing, though it is whole`() throws {
    bench.origin.on("/", Answer.text("old").header("Last-Modified", "Thu, 01 Jan 2015 00:00:00 GMT"))
    try bench.write("file", ["mine"])
    for arguments in [["-o", bench["file"]], ["-R", "-o", bench["file"]], []] {
      let end = try get([bench.origin.url("/"), "-z", "1 Jan 2020"] + arguments)
      #expect(end.exit == .status(0) && end.output.isEmpty, "\(end)")
    }
    #expect(bench.text("file") == "mine\n")
    #expect(try get([bench.origin.url("/"), "-z", "1 Jan 2010"]).output == "old")
    #expect(try get([bench.origin.url("/"), "-z", "-1 Jan 2020"]).output == "old")
    bench.origin.on("/", .status(304))
    #expect(try get([bench.origin.url("/"), "-z", "1 Jan 2020", "-o", bench["file"]]).exit == .status(0))
    #expect(bench.text("file") == "mine\n")
  }

  @Test func `a file that is as new as before has its length in the results, and is done`() throws {
    bench.origin.on("/f") { request in
      request.header("If-Modified-Since") == nil
        ? Answer.text("hello").header("Last-Modified", "Thu, 01 Jan 2015 00:00:00 GMT") : .status(304)
    }
    let arguments = [bench.origin.url("/f"), "-o", bench["out"], "--newer", "--results", bench["r"]]
    _ = try fetch(arguments)
    let end = try fetch(arguments)
    #expect(end.exit == .status(0) && end.errors.contains("as new as before"), "\(end.errors)")
    #expect(try bench.results("r").map(\.end.bytes) == [5])
    #expect(try fetch(arguments + ["--resume"]).exit == .status(0))
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
    let first = try Tool([
      "fetch", bench.origin.url("/slow"), "--no-cache", "--results", bench["r"], "--retry", "0",
    ])
    #expect(bench.origin.blockForRequests(1))
    for more in [[], ["--resume"]] {
      let end = try fetch([bench.origin.url("/1"), "--results", bench["r"]] + more)
      #expect(end.exit == .status(74) && end.errors.contains("another process writes it"), "\(end.errors)")
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
    let list = try bench.write("list", (0..<3).map { bench.origin.url("/\($0)") } + [bench.origin.url("/go")])
    let arguments = [list, "-o", bench["out"], "--names", "header", "--results", bench["r"]]
    let end = try fetch(arguments)
    #expect(end.exit == .status(0), "\(end.errors)")
    #expect(
      try LandingFolder.names(in: bench["out"]).sorted() == ["a b-1.txt", "a b-2.txt", "a b.txt", "end.bin"])
    for record in try bench.results("r") where record.output != "end.bin" {
      #expect(bench.text("out/\(record.output ?? "")") == String(record.url.suffix(1)))
    }
    let count = bench.origin.requestCount
    #expect(try fetch(arguments + ["--resume"]).exit == .status(0) && bench.origin.requestCount == count)
    #expect(
      try fetch([bench.origin.url("/go"), "-o", bench["final"], "--names", "final"]).exit == .status(0))
    #expect(bench.text("final/end.bin") == "end")
  }

  // MARK: Sentences

  @Test(
    arguments: [
      ("htps://h/", "did you mean 'https://'?"), ("ftp://h/", "only http:// and https://"),
      ("http:/h/x", "'http://h/x'"),
    ])
  func `a scheme that is none gets the sentence that helps`(url: String, sentence: String) throws {
    let end = try fetch([url])
    #expect(end.exit != .status(0) && end.errors.contains(sentence), "\(end.errors)")
    let one = try get([url])
    #expect(one.exit == .status(64), "\(one.errors)")
  }

  @Test func `a host without scheme and a folder are no lists`() throws {
    let end = try fetch(["example.org/a.jpg"])
    #expect(
      end.exit == .status(74) && end.errors.contains("did you mean the URL 'https://example.org/a.jpg'?"))
    #expect(!end.errors.contains("No such file"))
    let folder = try fetch([bench[""]])
    #expect(folder.exit == .status(64) && folder.errors.contains("is a folder"), "\(folder.errors)")
  }
}
