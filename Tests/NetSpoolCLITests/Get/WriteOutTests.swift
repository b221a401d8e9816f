import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `--write-out`, beside what curl writes.
@Suite(.ownThreads) struct WriteOutTests {
  private let bench: ToolBench

  init() throws {
    bench = try ToolBench()
    bench.origin.on("/", Answer.text("hello").header("X-Two", "a").header("X-Two", "b"))
    bench.origin.on("/go", .redirect(to: "next?a=b"))
    bench.origin.on("/error", .status(404))
  }

  private func written(_ format: String, _ arguments: [String]) throws -> String {
    try Tool.run(["get", "-o", "/dev/null", "-w", format] + arguments).output
  }

  @Test func `a Location is told as a whole URL`() throws {
    let text = try written("%{redirect_url}", ["--no-location", bench.origin.url("/go")])
    #expect(text == bench.origin.url("/next?a=b"))
  }

  @Test func `the connection is told`() throws {
    let format = "%{remote_ip} %{remote_port} %{local_ip} %{num_connects} %{num_headers} %{method} %{scheme}"
    let words = try written(format, [bench.origin.url("/")]).split(separator: " ")
    #expect(words.prefix(4) == ["127.0.0.1", "\(bench.origin.port)", "127.0.0.1", "1"], "\(words)")
    #expect(words.suffix(2) == ["GET", "HTTP"])
    #expect(try Int(written("%{local_port}", [bench.origin.url("/")])) ?? 0 > 0)
    #expect(try Int(written("%{size_header}", [bench.origin.url("/")])) ?? 0 > 17)
  }

  @Test func `bytes are those of the wire, not those that were unpacked`() throws {
    let packed = Gzip.stored(Array("hello".utf8))
    bench.origin.on("/gzip", .gzip(packed))
    #expect(try written("%{size_download}", [bench.origin.url("/gzip")]) == "\(packed.count)")
  }

  @Test func `JSON has all variables, and the head's fields are arrays`() throws {
    let text = try written("%{json}\n%{header_json}", [bench.origin.url("/")])
    let lines = text.split(separator: "\n").map { Array($0.utf8) }
    try #require(lines.count == 2)
    var keys: [String] = []
    var scanner = JSONScanner(lines[0][...])
    try scanner.wholeObject { key, value in
      keys.append(key)
      try value.skipValue()
    }
    #expect(keys == keys.sorted() && keys.contains("time_total") && keys.contains("remote_ip"))
    #expect(text.contains("\"http_code\":200,") && text.contains("\"errormsg\":null,"))
    #expect(text.contains("\"x-two\":[\"a\",\"b\"]"), "\(text)")
  }

  @Test func `what follows onerror is for failures, and stderr has its own`() throws {
    let format = "a%{onerror}b"
    #expect(try written(format, [bench.origin.url("/")]) == "a")
    #expect(try written(format, [bench.origin.url("/error")]) == "ab")
    let end = try Tool.run(["get", bench.origin.url("/"), "-w", "%{stderr}%{http_code}%{stdout}!"])
    #expect(end.output == "hello!" && end.errors == "200")
  }

  @Test func `the parts of a URL are told, before and after redirects`() throws {
    bench.origin.on("/next", .text("there"))
    let format = "%{url.path} %{urle.path} %{urle.query} %{urle.host} %{urle.port} %{urle.scheme}"
    let text = try written(format, [bench.origin.url("/go")])
    #expect(text == "/go /next a=b 127.0.0.1 \(bench.origin.port) http")
  }
}
