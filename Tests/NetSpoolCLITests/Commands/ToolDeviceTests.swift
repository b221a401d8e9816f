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

  private func mode(_ name: String) -> mode_t {
    var raw = stat()
    return unsafe lstat(bench[name], &raw) == 0 ? raw.st_mode : 0
  }

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
      let end = try Tool.run(["get", bench.origin.url("/"), "-c", bench["pipe"]])
      #expect(end.exit == .status(0), "\(end.errors)")
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let count = try Descriptor(borrowing: pipe, named: "a pipe").read(into: &bytes, at: 0, count: 4_096)
      #expect(String(decoding: bytes[..<count], as: UTF8.self).hasPrefix("# Netscape HTTP Cookie File"))
    }
  }

  @Test func `a pipe takes a whole archive`() throws {
    try withPipe { pipe in
      let urls = ["/", "/gone"].map { bench.origin.url($0) }
      let end = try Tool.run(["fetch", "-q", "--har", bench["pipe"]] + urls)
      #expect(end.exit == .status(1), "\(end.errors)")
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = try Descriptor(borrowing: pipe, named: "a pipe").read(into: &bytes, at: 0, count: 65_536)
      try bench.write("x.har", [String(decoding: bytes[..<count], as: UTF8.self)])
    }
    let script =
      "import json\nfor e in json.load(open('\(bench["x.har"])'))['log']['entries']: print(e['request']['method'])"
    #expect(try Tool.run(["python3", "-c", script], program: "/usr/bin/env").output == "GET\nGET\n")
  }

  @Test(arguments: ["--har", "-D", "--output"])
  func `no file of a get changes a pipe's mode`(option: String) throws {
    try withPipe { _ in _ = try Tool.run(["get", bench.origin.url("/"), option, bench["pipe"]]) }
  }

  @Test(arguments: ["--har", "--results", "--failed"])
  func `no file of a fetch changes a pipe's mode`(option: String) throws {
    try withPipe { _ in _ = try Tool.run(["fetch", "-q", bench.origin.url("/"), option, bench["pipe"]]) }
  }

  @Test(.notSanitized(.filesAreTooLong))
  func `an archive that cannot be written is in the summary's status`() throws {
    let words = [
      "fetch", "--json", "-q", "--no-cache", "\(bench.origin.url("/"))?[1-40]", "--har", bench["har"],
    ]
    let end = try Tool.run(
      ["-c", "ulimit -f 4 && exec \"$@\"", "sh", Tool.path()] + words, program: "/bin/sh")
    #expect(end.exit == .status(74) && end.output.contains("\"exitStatus\":74"), "\(end)")
  }

  @Test func `a link stays a link, and the cookies go where it leads`() throws {
    #expect(unsafe symlink(bench["jar"], bench["link"]) == 0)
    try bench.write("jar", [])
    #expect(try Tool.run(["get", bench.origin.url("/"), "-c", bench["link"]]).exit == .status(0))
    #expect(mode("link") & S_IFMT == S_IFLNK && mode("jar") == S_IFREG | 0o600)
    #expect(bench.text("jar")?.contains("\ta\tb\n") == true)

    #expect(unsafe symlink("/dev/null", bench["null"]) == 0)
    #expect(try Tool.run(["get", bench.origin.url("/"), "-c", bench["null"]]).exit == .status(0))
    #expect(mode("null") & S_IFMT == S_IFLNK && FileFacts(path: "/dev/null")?.isPlainFile == false)

    #expect(unsafe symlink(bench["nowhere"], bench["dangling"]) == 0)
    let end = try Tool.run(["get", bench.origin.url("/"), "-c", bench["dangling"]])
    #expect(end.exit == .status(74) && end.errors.contains("cannot follow the link"), "\(end.errors)")
    #expect(mode("dangling") & S_IFMT == S_IFLNK && bench.read("nowhere") == nil)
  }

  @Test func `an error's page does not take the place of a file that the server may name`() throws {
    try bench.write("gone", ["mine"])
    let end = try Tool.run(["get", bench.origin.url("/gone"), "--no-fail", "-OJ", "--output-dir", bench[""]])
    #expect(end.exit == .status(74) && bench.text("gone") == "mine\n", "\(end)")
  }

  @Test func `an error's page does not take the place of a link`() throws {
    #expect(unsafe symlink(bench["page"], bench["link"]) == 0)
    try bench.write("page", [])
    _ = try Tool.run(["get", bench.origin.url("/gone"), "--no-fail", "-o", bench["link"]])
    #expect(mode("link") & S_IFMT == S_IFLNK)
  }
}
