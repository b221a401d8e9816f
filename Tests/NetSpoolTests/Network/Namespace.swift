import Glibc
import Testing

@testable import TestSupport

/// A test in a network namespace of its own (network_namespaces(7)), where it is root and may pull cables.
///
/// A namespace of users can only be entered by a process with one thread, and a network's belongs to a thread; so
/// the test's body runs in a child: this program once more, under unshare(1), with this test alone.
enum Namespace {
  private static let mark = "NETSPOOL_NAMESPACE"

  /// What puts a program into namespaces of its own; nil where the system does not let us.
  private static let prefix: [String]? = [["unshare", "-rn", "--"], ["unshare", "-n", "--"]].first { words in
    (try? ChildProcess.run(words + ["ip", "link", "set", "lo", "up"]))?.exit == .status(0)
  }

  static let isPossible: Bool = {
    if prefix == nil { print("no network namespaces here: `unshare -rn ip link set lo up` fails") }
    return prefix != nil
  }()

  /// Runs the body there. `name` is the test's own. What leaks is this process's to find; a child that does not end is
  /// shown before its test counts as one.
  static func run(
    _ suite: String, name: String = #function, seconds: Int = 600,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
  ) async throws {
    if unsafe getenv(mark) != nil {
      try ip("link set lo up")
      return try await body()
    }
    let words =
      try #require(prefix) + [
        TestFiles.program, "--testing-library", "swift-testing", "--filter",
        "\(suite)/`\(name.prefix { $0 != "(" })`",
      ]
    let result = try await TestSlots.run {
      try await blocking {
        try ChildProcess.run(
          words, environment: ["\(mark)=1", "ASAN_OPTIONS=detect_leaks=0"],
          before: Deadline(after: .seconds(seconds).patient))
      }
    }
    let output = String(decoding: result.output + result.errors, as: UTF8.self)
    #expect(result.exit == .status(0), "\(output)", sourceLocation: sourceLocation)
    #expect(output.contains("1 test"), "the child ran no test: \(output)", sourceLocation: sourceLocation)
  }

  /// Runs `ip` with these words, inside.
  static func ip(_ words: String) throws { try command("ip \(words)") }

  /// Runs `ip` once with a line for each change: as fast as the kernel can.
  static func batch(_ lines: [String]) throws {
    let folder = try TestFolder()
    try ip("-batch \(try folder.write("lines", lines.joined(separator: "\n")))")
  }

  static func command(_ words: String) throws {
    let result = try ChildProcess.run(words.split(separator: " ").map(String.init))
    guard result.exit == .status(0) else {
      throw PartFailure("\(words): \(String(decoding: result.errors, as: UTF8.self))")
    }
  }
}
