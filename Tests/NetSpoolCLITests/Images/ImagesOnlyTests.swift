import Dispatch
import Glibc
import NetSpool
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `--images-only` as users meet it.
@Suite(.ownThreads) struct ToolImagesTests {
  private let bench: ToolBench

  init() throws {
    bench = try ToolBench()
    let image = Thumbnail.png(1)
    for (path, body) in [
      ("/whole", image), ("/cut", Array(image.dropLast(20))), ("/page", Array("<html>not found</html>".utf8)),
      ("/empty", []),
    ] {
      // What it says it is plays no part.
      bench.origin.on(path, .bytes(body, type: "image/png").header("Cache-Control", "max-age=3600"))
    }
  }

  private let paths = ["/whole", "/cut", "/page", "/empty"]

  private func fetch(_ words: String) throws -> Tool.End {
    try bench.write("list", paths.map { "{u}\($0)" })
    return try bench.fetch("list --images-only --cache \(bench["cache"]) \(words)")
  }

  @Test func `only whole images become files`() throws {
    _ = try OutputFolder(path: bench["out"])
    try bench.write("out/page", ["the old one"])
    for run in 0..<2 {
      try fetch("--output out --results r\(run) --checksum").expect(status: 1)
      #expect(bench.read("out/whole") == Thumbnail.png(1))
      #expect(bench.text("out/page") == "the old one\n")
      // Nothing else, hidden files included.
      #expect(DemoFolder.countFiles(in: bench["out"]) == 2)
      let results = try bench.results("r\(run)")
      let failures = results.filter { $0.end.ending == .failed(.forGood) }
      #expect(failures.allSatisfy { $0.end.error == "decodeFailed" && $0.end.sha256 == nil })
      #expect(failures.allSatisfy { $0.end.status == 200 })
      func reason(_ path: String) -> String? {
        failures.first { $0.url == bench.origin.url(path) }?.end.reason
      }
      #expect(reason("/cut") == "imageTruncated")
      #expect(reason("/page") == "notAnImage")
      #expect(reason("/empty") == "notAnImage")
      #expect(results.first { $0.end.ending == .done }?.end.source == (run == 0 ? .network : .cache))
      #expect(results.first { $0.end.ending == .done }?.end.sha256?.utf8.count == 64)
    }
    // What is no image is not kept either.
    #expect(bench.origin.requestCount == 7)
  }

  @Test func `they are looked at without files too`() throws {
    let end = try fetch("--json").expect(status: 1)
    #expect(end.output.contains(#""done":1,"#))
    #expect(end.output.contains(#""decodeFailed notAnImage":2,"decodeFailed imageTruncated":1"#))
    #expect(try fetch("--json").output.contains(#""done":1,"hits":1,"#))
  }

  @Test func `without the option every body is a file`() throws {
    try bench.write("list", paths.map { "{u}\($0)" })
    try bench.fetch("list --output out --quiet").expect(status: 0)
    #expect(DemoFolder.countFiles(in: bench["out"]) == 4)
  }

  @Test func `a folder in the way is a local error`() throws {
    _ = try OutputFolder(path: bench["out/whole"])
    try fetch("--output out --results r").expect(status: 74)
    let record = try #require(try bench.results("r").first { $0.url == bench.origin.url("/whole") })
    #expect(record.end.error == "sinkFailed")
    #expect(record.end.reason == "Is a directory")
    #expect(DemoFolder.countFiles(in: bench["out"]) == 0)
  }
}

@Suite struct ImageGateTests {
  @Test func `bodies land beside their target under names of their own`() throws {
    let scratch = try TestFolder()
    let gate = try ImageGate(temporaryIn: scratch.path)
    let names = (0..<100).map { _ in gate.landing(for: "/a/b/c.png") }
    #expect(Set(names).count == 100)
    let start = "/a/b/.netspool-\(OwnName.word)-"
    #expect(names.allSatisfy { $0.hasPrefix(start) && !$0.dropFirst(5).contains("/") })
    // By chance: two containers that share a folder both have the number 1.
    #expect(OwnName.word != String(getpid(), radix: 16))
    #expect(gate.landing(for: nil).hasPrefix(scratch.path + "/netspool-"))
    gate.close()
    #expect(DemoFolder.countFiles(in: scratch.path) == 0)
    #expect(unsafe rmdir(scratch.path) == 0)
  }

  @Test func `every cut of an image is refused`() throws {
    let scratch = try TestFolder()
    let gate = try ImageGate(temporaryIn: nil)
    let image = Thumbnail.png(7)
    for length in Array(stride(from: 0, to: image.count, by: 7)) + [image.count - 1, image.count] {
      let landing = try scratch.write("landing", Array(image.prefix(length)))
      let verdict = judged(gate, landing, scratch["target"])
      let expected: Bool = length == image.count
      #expect((verdict == .passed) == expected, "\(length) bytes: \(verdict)")
      #expect(FileFacts(path: landing) == nil)
      #expect((FileFacts(path: scratch["target"]) != nil) == expected)
    }
    #expect(judged(gate, scratch["nothing"], nil) == .refused(reason: "notAnImage"))
    gate.close()
  }

  private func judged(_ gate: ImageGate, _ landing: String, _ target: String?) -> ImageGate.Verdict {
    let (done, verdict) = (DispatchSemaphore(value: 0), Variable(ImageGate.Verdict.passed))
    gate.judge(landing, target) {
      verdict.value = $0
      done.signal()
    }
    done.wait()
    return verdict.value
  }
}
