import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `--har`, looked at by somebody else's reader of JSON.
@Suite(.ownThreads) struct ToolHARTests {
  private let bench: ToolBench

  init() throws { bench = try ToolBench() }

  /// What Python prints of the archive's entries.
  private func look(_ expression: String) throws -> String {
    let script =
      "import json\nlog = json.load(open('\(bench["x.har"])'))['log']\nfor e in log['entries']: print(\(expression))"
    let end = try Tool.run(["python3", "-c", script], program: "/usr/bin/env").expect(status: 0)
    return end.output
  }

  @Test func `get writes what was sent and received, without secrets`() throws {
    bench.origin.on("/a", .text("hello").header("Set-Cookie", "s=hidden").header("X-Answer", "42"))
    let words = bench.words(
      "get -s {u}/a?token=hidden&b=c {u}/gone http://127.0.0.1:1/ -H X-One:1 --har x.har --retry 0")
    try Tool.run(words + ["-H", "Authorization: Bearer hidden"], in: bench[""]).expect(status: 1)
    let text = bench.text("x.har") ?? ""
    #expect(!text.contains("hidden") && text.contains("\"X-Answer\",\"value\":\"42\""))
    #expect(TestFiles.mode(bench["x.har"]) == S_IFREG | 0o600)
    #expect(
      try look("e['response']['status'], e.get('_error') or e['response'].get('_error')") == """
        200 None
        404 status
        0 connectFailed

        """)
    #expect(try look("e['request']['queryString']").contains("{'name': 'b', 'value': 'c'}"))
    #expect(
      try look("abs(sum(v for k, v in e['timings'].items() if k != 'ssl') - e['time']) < 0.01")
        == "True\nTrue\nTrue\n")
    let fields = "startedDateTime time request response cache timings"
    #expect(try look("sorted(e) == sorted('\(fields)'.split())") == "True\nTrue\nTrue\n")
  }

  @Test func `an entry has the server's phrase, and the heads on the way without secrets`() throws {
    let moved = "HTTP/1.1 302 Over There\r\nLocation: /b\r\nSet-Cookie: s=hidden\r\nContent-Length: 0\r\n\r\n"
    bench.origin.on("/a", .raw(moved))
    bench.origin.on("/b", .raw("HTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nok"))
    let end = try bench.run("get -s {u}/a --har x.har")
    #expect(end.output == "ok" && bench.text("x.har")?.contains("hidden") == false, "\(end.errors)")
    let heads = try look("e['response']['statusText'], [h.split('\\n')[0] for h in e['response']['_heads']]")
    #expect(heads == "Fine ['HTTP/1.1 302 Over There', 'HTTP/1.1 200 Fine']\n")
  }

  @Test func `fetch writes one entry for each, and the archive is whole at any time`() throws {
    bench.serve(0..<300)
    try bench.writeList(0..<300)
    try bench.fetch("list -o out -q --har x.har").expect(status: 0)
    #expect(try look("e['response']['content']['size']").split(separator: "\n").count == 300)
    bench.origin.hold("/299")
    #expect(unsafe unlink(bench["x.har"]) == 0)
    let tool = try bench.start("fetch list -q --har x.har --no-cache")
    for _ in 0..<600_000 where FileFacts(path: bench["x.har"])?.size ?? 0 < 65_536 { usleep(500) }
    tool.signal(SIGKILL)
    #expect(tool.wait() == .signal(SIGKILL))
    #expect(try look("e['response']['status']").split(separator: "\n").count > 50)
  }

  @Test func `an archive that cannot be written is one sentence`() throws {
    bench.serve(0..<300)
    try bench.writeList(0..<300)
    for path in ["no/such/x.har", "/dev/full"] {
      let end = try bench.fetch("list -q --har \(path)")
      #expect(end.exit == .status(74) && end.errors.split(separator: "\n").count == 1, "\(end.errors)")
    }
    try bench.fetch("list --har list").expect(status: 64)
    try bench.run("post --freeze -d a --har x {u}/").expect(status: 64)
  }
}
