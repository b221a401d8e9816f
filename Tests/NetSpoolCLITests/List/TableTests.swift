import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// Lists that are tables: CSV by RFC 4180, and the same with tabs or semicolons.
@Suite(.ownThreads) struct TableTests {
  private func others(_ item: ListItem?) -> [String] {
    (item?.options.others ?? []).map { "\($0.name)=\(String(decoding: $0.json, as: UTF8.self))" }
  }

  @Test(arguments: [",", "\t", ";"])
  func `quoted fields hold separators, quotes and line ends`(separator: String) throws {
    let text = [
      "caption\turl\tlabel", "\"a\tb\nhttp://no/1\r\n\"\"c\"\"\"\t\"http://h/1\"\t7", "#tag\thttp://h/2\t",
      "5\" pipe\thttp://h/3\t8", "# a comment", "",
    ].joined(separator: "\n").split(separator: "\t", omittingEmptySubsequences: false).joined(
      separator: separator)
    let (items, broken) = try ListReader.read(text)
    #expect(broken.isEmpty && items.map(\.url) == ["http://h/1", "http://h/2", "http://h/3"], "\(items)")
    #expect(items.map(\.line) == [2, 5, 6])
    let tab = separator == "\t" ? "\\t" : separator
    #expect(others(items.first) == ["caption=\"a\(tab)b\\nhttp://no/1\\r\\n\\\"c\\\"\"", "label=\"7\""])
    #expect(others(items[1]) == ["caption=\"#tag\"", "label=\"\""])
    #expect(others(items[2]).first == "caption=\"5\\\" pipe\"")
  }

  @Test func `quotes that are never closed are one sentence, and nothing behind them is fetched`() throws {
    let rows = (0..<10_000).map { "http://h/\($0),x\n" }.joined()
    for text in [
      "url,caption\nhttp://h/a,b\nhttp://h/c,\"open\n",
      "url,caption\nhttp://h/a,b\nhttp://h/c,\"open\n" + rows,
    ] {
      let (items, broken) = try ListReader.read(text)
      #expect(items.map(\.url) == ["http://h/a"])
      #expect(broken.map(\.cause) == [.openQuote(3)] && broken.first?.line == 3)
    }
  }

  @Test(arguments: [20_000, 65_000, 70_000, 200_000, 3_000_000])
  func `a row with a long line is one broken line at most, and the others are read`(count: Int) throws {
    let long = String(repeating: "\"\",", count: count / 3)
    for row in ["http://h/1,\"\(long)\"", "http://h/1,\"x\n\(long)\",y"] {
      let (items, broken) = try ListReader.read("url,caption\n\(row)\nhttp://h/2,\"a\nb\"\nhttp://h/3,c\n")
      let urls = ["http://h/1", "http://h/2", "http://h/3"]
      let isLong = count >= 70_000
      #expect(items.map(\.url) == Array(urls.dropFirst(isLong ? 1 : 0)), "\(broken)")
      #expect(broken.count == (isLong ? 1 : 0))
      #expect(broken.allSatisfy { $0.cause == .tooLong && $0.line == 2 })
    }
  }

  @Test(arguments: [5_000, 40_000])
  func `a table whose first line is too long is one broken line`(count: Int) throws {
    let names = (0..<count).map { "column\($0)" }.joined(separator: ",")
    let (items, broken) = try ListReader.read("url,\(names)\nhttp://h/1,a\nhttp://h/2,b\n")
    #expect(items.isEmpty && broken.map(\.cause) == [.tooLong] && broken.first?.line == 1)
    let object = try ListReader.read("{\"tags\":[\"a\",\"url\",\"\(names)\"]}\nhttp://h/1\n")
    #expect(object.items.map(\.url) == ["http://h/1"] && object.broken.first?.line == 1)
  }

  @Test func `a failed row says the same when it is read again`() throws {
    let (items, _) = try ListReader.read("url,caption,width\nhttp://h/1,\"a\nb\",5\n")
    let item = try #require(items.first)
    let line = String(decoding: LineForm.line(item.url, "name", item.options), as: UTF8.self)
    let again = try ListReader.read(line).items.first
    #expect(again?.options == item.options && again?.name == "name")
  }

  @Test func `a list that is no text is named as what it is`() throws {
    for (bytes, name) in [([0x1F, 0x8B, 8, 0], "gzip"), ([0xFF, 0xFE, 0x68, 0], "UTF-16")]
      as [([UInt8], String)]
    {
      let folder = try TestFolder()
      let list = try folder.write("list", bytes + [0x0A] + Array("http://h/\n".utf8))
      let pulls = try ListReader([.file(list)]).rest()
      let line = try #require(pulls.first?.broken, "\(name)").description
      #expect(pulls.count == 1 && line.contains(name) && line.contains("netspool fetch -"), "\(pulls)")
    }
  }

  @Test func `captions and labels go into the results and into the tar`() throws {
    let bench = try ToolBench()
    bench.serve(0..<2)
    try bench.write("list", ["url,caption,width", "{u}/0,\"two", "lines\",640", "{u}/1,,"])
    try bench.fetch("list --no-cache -o x.tar --results r.jsonl --quiet").expect(status: 0)
    for text in [try #require(bench.text("r.jsonl")), try #require(bench.text("x.tar"))] {
      #expect(text.contains("\"caption\":\"two\\nlines\",\"list_width\":\"640\""), "\(text)")
    }
    #expect(try bench.results("r.jsonl").count == 2)
  }

  @Test(.needsPython) func `webdataset and a reader of pairs take every item of a tar`() throws {
    let bench = try ToolBench()
    let names = ["d.o.t.s.jpg", "plain.jpg", "v1.2.jpg", "a%20b.jpg", "x.tar.jpg", ".dot.jpg"]
    for name in names { bench.origin.on("/\(name)", .bytes(Array(name.utf8), type: "image/jpeg")) }
    try bench.write("list", ["url,caption"] + names.map { "{u}/\($0),of \($0)" })
    try bench.fetch("list --no-cache -o x.tar --quiet").expect(status: 0)
    let script = """
      import sys, json, webdataset as wds
      for key, body, info in wds.WebDataset(sys.argv[1], shardshuffle=False, empty_check=False).to_tuple("__key__", "jpg", "json"):
        print(body.decode(), json.loads(info)["caption"], "." in key)
      """
    let python = try #require(PythonModules.interpreter)
    let read = try Tool.run(["-c", script, bench["x.tar"]], program: python)
    let lines = Set(read.output.split(separator: "\n").map(String.init))
    #expect(lines == Set(names.map { "\($0) of \($0) False" }), "\(read.output) \(read.errors)")
  }
}
