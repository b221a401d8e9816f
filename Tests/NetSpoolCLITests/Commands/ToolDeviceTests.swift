import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// What the tool writes to that is no plain file: pipes, devices and symbolic links stay what they are.
@Suite(.ownThreads) struct ToolDeviceTests {
  private let bench: ToolBench

  init() throws {
    bench = try ToolBench()
    bench.origin.on("/", Answer.text("body").header("Set-Cookie", "a=b"))
    bench.origin.on("/gone", .text("gone", status: 404))
  }

  private func mode(_ name: String) -> mode_t { TestFiles.mode(bench[name]) }

  /// A pipe with a name, which is open for as long as the body runs, so that nobody waits for the other side.
  private func withPipe(_ body: (Int32) throws -> Void) throws {
    #expect(unsafe mkfifo(bench["pipe"], 0o644) == 0)
    #expect(unsafe chmod(bench["pipe"], 0o644) == 0)
    let pipe = unsafe open(bench["pipe"], O_RDWR)
    defer { close(pipe) }
    try body(pipe)
    #expect(mode("pipe") == S_IFIFO | 0o644)
  }

  @Test func `a cookie jar that is a pipe is written to and stays a pipe`() throws {
    try withPipe { pipe in
      try bench.run("get {u}/ -c pipe").expect(status: 0)
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let count = try Descriptor(borrowing: pipe, named: "a pipe").read(into: &bytes, at: 0, count: 4_096)
      #expect(String(decoding: bytes[..<count], as: UTF8.self).hasPrefix("# Netscape HTTP Cookie File"))
    }
  }

  @Test func `a pipe takes a whole archive`() throws {
    try withPipe { pipe in
      try bench.run("fetch -q --har pipe {u}/ {u}/gone").expect(status: 1)
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = try Descriptor(borrowing: pipe, named: "a pipe").read(into: &bytes, at: 0, count: 65_536)
      try bench.write("x.har", [String(decoding: bytes[..<count], as: UTF8.self)])
    }
    let script =
      "import json\nfor e in json.load(open('\(bench["x.har"])'))['log']['entries']: print(e['request']['method'])"
    #expect(try Tool.run(["python3", "-c", script], program: "/usr/bin/env").output == "GET\nGET\n")
  }

  @Test(arguments: [
    "get {u}/ --har", "get {u}/ -D", "get {u}/ --output", "fetch -q {u}/ --har", "fetch -q {u}/ --results",
    "fetch -q {u}/ --failed",
  ])
  func `no file of a get or a fetch changes a pipe's mode`(line: String) throws {
    try withPipe { _ in _ = try bench.run("\(line) pipe") }
  }

  @Test(.notSanitized(.filesAreTooLong))
  func `an archive that cannot be written is in the summary's status`() throws {
    let line = "fetch --json -q --no-cache {u}/?[1-40] --har har"
    let end = try bench.shell(line, after: "ulimit -f 4;")
    #expect(end.exit == .status(74) && end.output.contains("\"exitStatus\":74"), "\(end)")
  }

  @Test(.notSanitized(.filesAreTooLong), arguments: ["schema", "frozen list", "doctor"])
  func `a limit for the length of files is told`(line: String) throws {
    let end = try bench.shell(line, after: "ulimit -f 0;", ">out")
    #expect(end.exit == .status(74) && end.errors.contains("cannot write standard output"), "\(end)")
  }

  @Test func `a link stays a link, and the cookies go where it leads`() throws {
    #expect(unsafe symlink(bench["jar"], bench["link"]) == 0)
    try bench.write("jar", [])
    try bench.run("get {u}/ -c link").expect(status: 0)
    #expect(mode("link") & S_IFMT == S_IFLNK && mode("jar") == S_IFREG | 0o600)
    #expect(bench.text("jar")?.contains("\ta\tb\n") == true)

    #expect(unsafe symlink("/dev/null", bench["null"]) == 0)
    try bench.run("get {u}/ -c null").expect(status: 0)
    #expect(mode("null") & S_IFMT == S_IFLNK && FileFacts(path: "/dev/null")?.isPlainFile == false)

    #expect(unsafe symlink(bench["nowhere"], bench["dangling"]) == 0)
    try bench.run("get {u}/ -c dangling").expect(status: 74, saying: "cannot follow the link")
    #expect(mode("dangling") & S_IFMT == S_IFLNK && bench.read("nowhere") == nil)
  }

  @Test func `an error's page does not take the place of a file that the server may name`() throws {
    try bench.write("gone", ["mine"])
    let end = try bench.run("get {u}/gone --no-fail -OJ")
    #expect(end.exit == .status(74) && bench.text("gone") == "mine\n", "\(end)")
  }

  @Test func `an error's page does not take the place of a link`() throws {
    #expect(unsafe symlink(bench["page"], bench["link"]) == 0)
    try bench.write("page", [])
    _ = try bench.run("get {u}/gone --no-fail -o link")
    #expect(mode("link") & S_IFMT == S_IFLNK)
  }
}
