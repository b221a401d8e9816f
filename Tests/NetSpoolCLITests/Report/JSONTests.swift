import Testing

@testable import NetSpoolCLI

@Suite struct JSONTests {
  private func record(_ text: String) -> ResultRecord? { ResultRecord(line: Array(text.utf8)[...]) }

  @Test func `a record reads back as written`() {
    var outcome = FetchOutcome.status(503)
    outcome.reason = "quote \" backslash \\ tab \t line \n nul \u{0} del \u{7F} ü 🎉"
    (outcome.attempts, outcome.bytes) = (3, 1 << 40)
    outcome.timings?.total = 950
    (outcome.sha256, outcome.etag) = ("ab", "\"e\"")
    outcome.picture = .init(width: 3, height: 4, format: "webp", sourceBytes: 5, transform: "3 contain webp")
    let item = FetchItem(id: 0, url: "http://h/\"\\", output: "d/ü.png")
    var record = ResultRecord(item, outcome)!
    let line = record.line
    record.end.timings = nil
    #expect(line.last == 0x0A)
    #expect(line.dropLast().allSatisfy { $0 >= 0x20 && $0 != 0x7F })
    #expect(ResultRecord(line: line.dropLast()) == record)
  }

  @Test func `the fields are the documented ones`() {
    var outcome = FetchOutcome.ok(8_192)
    outcome.timings = .init(queue: 1, dns: 2, connect: 1_500, tls: 4, firstByte: 5_000, total: 0)
    let record = ResultRecord(FetchItem(id: 0, url: "http://h/a", output: "a"), outcome)!
    #expect(
      String(decoding: record.line, as: UTF8.self)
        == #"{"url":"http://h/a","output":"a","outcome":"done","status":200,"bytes":8192,"#
        + #""source":"network","attempts":1,"timings":{"queue":0.001,"dns":0.002,"connect":1.5,"tls":0.004,"#
        + "\"firstByte\":5,\"total\":0}}\n")
  }

  @Test(arguments: [
    #"{"url":"u","outcome":"done"}"#, #" { "outcome" : "done" , "x":[1,{"y":[]},null], "url" : "u" } "#,
    #"{"url":"\u0075","outcome":"done","z":-1.5e3,"t":true}"#, #"{"url":"u","outcome":"done","e":{}}"#,
  ])
  func `accepts what other tools make of it`(text: String) {
    var read = record(text)
    read?.others = []
    #expect(read == ResultRecord(url: "u", .done))
  }

  @Test(arguments: [
    "", "{", "{}", "null", "[]", #"{"url":"u"}"#, #"{"outcome":"done"}"#, #"{"url":"u","outcome":"dead"}"#,
    #"{"url":"u","outcome":"done""#, #"{"url":"u","outcome":"done"}x"#, #"{"url":1,"outcome":"done"}"#,
    #"{"url":"\ud800","outcome":"done"}"#, #"{"url":"\x","outcome":"done"}"#, #"{url:"u"}"#,
    #"{"url":"u","outcome":"done","bytes":1.5}"#, #"{"url":"u","outcome":"done","x":tru}"#,
    #"{"url":"u","outcome":"done","x":"# + String(repeating: "[", count: 100_000),
  ])
  func `refuses what is no record`(text: String) { #expect(record(text) == nil) }

  @Test func `reads surrogate pairs`() {
    #expect(record(#"{"url":"\ud83c\udf89","outcome":"failed-for-now"}"#)?.url == "🎉")
  }

  @Test func `every prefix of a line is no record`() {
    let record = ResultRecord(FetchItem(id: 0, url: "http://h/ü\"", output: "a"), .status(404))!
    let line = record.line.dropLast()
    for length in 0..<line.count { #expect(ResultRecord(line: line.prefix(length)) == nil) }
  }
}
