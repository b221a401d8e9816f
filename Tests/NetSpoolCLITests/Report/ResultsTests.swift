import NetSpool
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

@Suite struct ResultsTests {
  private let done = #"{"url":"http://h/1","output":"a","outcome":"done"}"#
  private let failed = #"{"url":"http://h/2","outcome":"failed-for-now"}"#

  private func resumption(_ text: String) throws -> (ResultsReader.Resumption, Ledger) {
    let scratch = try TestFolder()
    let ledger = Ledger()
    return (try ResultsReader.markDone(in: try scratch.write("r", text), ledger), ledger)
  }

  @Test func `only done counts as done`() throws {
    let (_, ledger) = try resumption("\(done)\n\(failed)\n")
    #expect(try ledger.value(Fingerprint(.done, "http://h/1", "a")) != nil)
    #expect(try ledger.value(Fingerprint(.done, "http://h/1", "")) == nil)
    #expect(ledger.count == 1)
  }

  @Test func `a missing file is an empty one`() throws {
    let scratch = try TestFolder()
    #expect(try ResultsReader.markDone(in: scratch["none"], Ledger()) == ResultsReader.Resumption())
  }

  @Test func `goes on after every possible cut`() throws {
    let scratch = try TestFolder()
    let whole = Array("\(done)\n\(failed)\n".utf8)
    for length in 0...whole.count {
      let path = try scratch.write("r", Array(whole.prefix(length)))
      let writer = try OutputFile.create(path, keeping: true)
      try writer.resume(after: try ResultsReader.markDone(in: path, Ledger()))
      try writer.write(ResultRecord(url: "http://h/3", .done).line)
      try writer.flush()
      let reader = try ResultsReader(path)
      var urls: [String] = []
      while case .record(let record) = try reader.next() { urls.append(record.url) }
      #expect(urls.last == "http://h/3", "cut at \(length)")
      let expected = 1 + (length >= done.utf8.count ? 1 : 0) + (length >= whole.count - 1 ? 1 : 0)
      #expect(urls.count == expected, "cut at \(length)")
    }
  }

  @Test func `a record holds neither user nor password of its URL`() throws {
    let url = "https://alice:s3cret@h:8080/a?b=c@d"
    let item = FetchItem(id: 1, url: url, output: "a")
    var outcome = FetchOutcome(.done)
    outcome.finalURL = "http://bob:hunter2@i/"
    let record = try #require(ResultRecord(item, outcome))
    let line = String(decoding: record.line, as: UTF8.self)
    for secret in ["alice", "s3cret", "bob", "hunter2"] { #expect(!line.contains(secret)) }
    #expect(record.url.hasPrefix("https://***") && record.url.hasSuffix("@h:8080/a?b=c@d"))
    #expect(URLText.recorded(record.url) == record.url)
    #expect(URLText.withoutMask(record.url) == "https://h:8080/a?b=c@d")
    #expect(URLText.recorded(url) != URLText.recorded("https://alice:other@h:8080/a?b=c@d"))
    for plain in ["http://h/a@b", "http://h?a@b", "http://h"] { #expect(URLText.recorded(plain) == plain) }
  }

  @Test func `a line with a password is known by what was written of it, and by what earlier versions wrote`()
    throws
  {
    let url = "http://alice:s3cret@h/1"
    for written in [url, URLText.recorded(url)] {
      let (_, ledger) = try resumption(#"{"url":"\#(written)","output":"a","outcome":"done"}"# + "\n")
      #expect(try ledger.value(Fingerprint(.done, url, "a")) != nil)
      #expect(try ledger.value(Fingerprint(.done, "http://bob:s3cret@h/1", "a")) == nil)
    }
  }

  @Test func `a broken line in the middle is passed over`() throws {
    let (resumption, ledger) = try resumption("garbage\n\(done)\n{\n")
    #expect(ledger.count == 1)
    #expect(resumption == ResultsReader.Resumption(bytesKept: done.utf8.count + 11))
  }

  /// What a list says, what it says once its lines went through a file of failed ones, and that file.
  private func again(_ bytes: [UInt8]) throws
    -> (before: [ListReader.Pull], after: [ListReader.Pull], file: [UInt8])
  {
    let scratch = try TestFolder()
    let writer = try OutputFile.create(scratch["f"])
    let list = try ListReader([.file(try scratch.write("l", bytes))])
    var before: [ListReader.Pull] = []
    while case let pull = try list.next(), pull != .end {
      before.append(pull)
      if let line = pull.broken { try writer.write(line, of: list) }
      if let item = pull.item { try writer.write(url: item.url, output: item.name, item.options) }
    }
    try writer.flush()
    return (before, try ListReader([.file(scratch["f"])]).rest(), try scratch.read("f"))
  }

  /// A line in which nothing is left out.
  private func fullRecord() -> [UInt8] {
    var record = ResultRecord(url: "u", output: "o", .failed(.forGood))
    (record.tar, record.ended) = ("t", "t")
    (record.end.status, record.end.source, record.end.error, record.end.reason) = (200, .cache, "e", "r")
    (record.end.finalURL, record.end.contentType, record.end.etag) = ("f", "c", "e")
    (record.end.sha256, record.end.timings) = ("s", FetchOutcome.Timings())
    record.end.picture = .init(width: 1, height: 1, format: "png", sourceBytes: 1, transform: "1 contain png")
    return record.line
  }

  @Test func `the schema and the manual have every key that is written`() throws {
    let manual = try TestFiles.text(
      TestFiles.parts.dropLast("Tests/Parts".count) + "Sources/NetSpool/NetSpool.docc/Tool.md")
    let results = try #require(manual.split(separator: "\n## ").first { $0.hasPrefix("Results\n") })
    let keys = keys(fullRecord())
    #expect(keys.count == 27, "\(keys)")
    for key in keys { #expect(SchemaCommand.text.contains("\"\(key)\": {"), "\(key)") }
    for key in keys + self.keys(Summary().json(exitStatus: .allDone)) {
      #expect(results.contains("`\(key)`"), "\(key)")
    }
  }

  /// Of texts that have no `":` in their values.
  private func keys(_ json: [UInt8]) -> [String] {
    String(decoding: json, as: UTF8.self).split(separator: "\":").dropLast().compactMap { part in
      part.lastIndex(of: "\"").map { String(part[part.index(after: $0)...]) }
    }
  }

  @Test func `broken lines are in the failed file as they were, however long and whatever they hold`() throws
  {
    let long = Array("http://h/".utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: 10_000_000)
    let lines = [Array("http://h/\0a".utf8), long, Array("http://h/".utf8) + [0xFF], Array("nonsense".utf8)]
    let (_, pulls, file) = try again(Array(lines.joined(separator: [0x0A])))
    #expect(pulls.compactMap(\.broken?.cause) == [.hasNUL, .tooLong, .notUTF8, .notAURL(.noScheme(nil))])
    let written = file.split(separator: 0x0A).map(Array.init)
    #expect(written.filter { $0.first != UInt8(ascii: "#") } == lines)
    #expect(written.count { $0.first == UInt8(ascii: "#") } == 3)
  }

  @Test(arguments: ["\t", "\"\"", "\\", "a"], ["http://h/", "nonsense"])
  func `a failed row is read again, however long its line has become`(letter: String, url: String) throws {
    let caption = String(repeating: letter, count: 60_000 / letter.utf8.count)
    let (before, after, file) = try again(Array("url,caption\n\(url),\"\(caption)\"\n".utf8))
    #expect(file.count > ListReader.lineBytesMax && before.count == 1 && after.count == 1)
    #expect(after.map { $0.item?.options } == before.map { $0.item?.options })
    #expect(after.map { $0.broken?.cause } == before.map { $0.broken?.cause })
  }

  @Test func `a failed line is read again that a name has made too long`() throws {
    let url = "http://h/" + String(repeating: "a", count: ListReader.lineBytesMax - 9)
    let scratch = try TestFolder()
    let writer = try OutputFile.create(scratch["f"])
    try writer.write(url: url, output: "name")
    try writer.flush()
    let item = try ListReader([.file(scratch["f"])]).rest().first?.item
    #expect(item == ListItem(url: url, name: "name", line: 1))
  }

  @Test func `a broken row of a CSV file says in the failed file which column is which`() throws {
    let text = "name,url,sha256,header\na,http://h/1,short,X: y\n\"b, c\",nonsense,,\n"
    let (_, pulls, file) = try again(Array(text.utf8))
    #expect(
      String(decoding: file, as: UTF8.self)
        == #"{"name":"a","url":"http://h/1","sha256":"short","header":"X: y"}"# + "\n"
        + #"{"name":"b, c","url":"nonsense"}"# + "\n")
    #expect(pulls.count == 2)
  }

  @Test(arguments: [
    #"{"url":"http://h/","out":"a","header":"X: y\tmirror=http://evil/"}"#,
    #"{"url":"http://h/","out":"sha256=name"}"#, #"{"url":"http://h/","out":"a\tb","mirror":"http://i/"}"#,
    #"{"url":"http://h/","out":"http://i/"}"#, "http://h/\tname\theader=A: b\theader=C: d\thttp://i/",
    #"{"url":"http://h/","header":"X: y "}"#, "http://h/1\td/a b.png", "http://h/2",
  ])
  func `a failed line says the same when it is read again`(text: String) throws {
    let (before, after, _) = try again(Array(text.utf8))
    #expect(after == before && before.count == 1)
  }
}

@Suite struct ReportMergeTests {
  private func line(_ url: String, _ outcome: String, bytes: Int = 1) -> String {
    #"{"url":"\#(url)","outcome":"\#(outcome)","bytes":\#(bytes)}"# + "\n"
  }

  @Test func `the last result of a URL counts`() throws {
    let scratch = try TestFolder()
    let one = try scratch.write(
      "1", line("a", "failed") + line("b", "failed-for-now") + line("c", "done") + "x\n")
    let two = try scratch.write("2", line("b", "done", bytes: 5) + line("a", "failed-for-now") + #"{"url":"#)
    let merge = ReportMerge(paths: [one, two], ledger: Ledger())
    let totals = try merge.run(merged: scratch["m"], failed: scratch["f"])
    #expect(totals.lines == 7)
    #expect(totals.replaced == 2)
    #expect(totals.unreadable == 2)
    #expect(totals.summary.done == 2)
    #expect(totals.summary.failedForNow == 1)
    #expect(totals.summary.failedForGood == 0)
    #expect(totals.summary.bytes == 6)
    #expect(
      try scratch.text("m") == line("c", "done") + line("b", "done", bytes: 5) + line("a", "failed-for-now"))
    #expect(try scratch.text("f") == "a\n")
    #expect(totals.text.contains("2  replaced by later results"))
  }

  @Test func `a failure and a success under the name of a tar's member are results of one item`() throws {
    let scratch = try TestFolder()
    let failure = #"{"url":"u","output":"3","outcome":"failed-for-now"}"# + "\n"
    let success = #"{"url":"u","output":"3.jpg","tar":"x.tar","outcome":"done"}"# + "\n"
    for (text, done) in [(failure + success, 1), (success + failure, 0)] {
      let totals = try ReportMerge(paths: [try scratch.write("1", text)], ledger: Ledger()).run()
      #expect(totals.replaced == 1 && totals.summary.done == done, "\(text)")
    }
  }

  @Test func `a file that cannot be read costs no earlier output`() throws {
    let scratch = try TestFolder()
    let one = try scratch.write("1", line("a", "done"))
    let (merged, failed) = (try scratch.write("m", "before"), try scratch.write("f", "before"))
    for bad in [scratch["none"], scratch.path] {
      let merge = ReportMerge(paths: [one, bad], ledger: Ledger())
      #expect(throws: IOFailure.self) { try merge.run(merged: merged, failed: failed) }
    }
    #expect(try scratch.text("m") == "before")
    #expect(try scratch.text("f") == "before")
  }

  @Test func `merging a merged file changes nothing`() throws {
    let scratch = try TestFolder()
    let one = try scratch.write(
      "1", (0..<50).map { line("u\($0 % 20)", $0 % 3 == 0 ? "done" : "failed") }.joined())
    _ = try ReportMerge(paths: [one, one], ledger: Ledger()).run(merged: scratch["m"])
    _ = try ReportMerge(paths: [scratch["m"]], ledger: Ledger()).run(merged: scratch["n"])
    #expect(try scratch.text("m") == scratch.text("n"))
    #expect(try scratch.text("m").split(separator: "\n").count == 20)
  }
}
