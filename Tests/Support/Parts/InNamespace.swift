import Glibc
import Testing

/// Runs each test once more, in a child process with a network of its own whose one name server the test plays
/// itself. What is measured there is the child's; here it has passed when the child says so.
struct InNamespace: TestTrait, SuiteTrait, TestScoping {
  let isRecursive = true
  private static let mark = "NETSPOOL_TESTS_INSIDE"

  static let isInstalled = findProgram("unshare") != nil && findProgram("ip") != nil
  private static let isInside = unsafe getenv(mark) != nil

  @concurrent func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
  ) async throws {
    if Self.isInside || test.isSuite { return try await body() }
    let name = test.name.prefix { $0 != "(" }
    // Alone: what the child measures, other tests would spoil.
    let result = try await TestSlots.run(alone: true) { try await blocking { try Self.run(String(name)) } }
    let printed = String(decoding: result.output + result.errors, as: UTF8.self)
    let ran = printed.contains("Test run with 1 test in 1 suite passed")
    #expect(result.exit == .status(0) && ran, "\(printed)", sourceLocation: test.sourceLocation)
  }

  /// This program again, for one test; its name is no other's.
  private static func run(_ name: String) throws -> ChildProcess.Result {
    let directory = try TestFiles.makeDirectory()
    defer { _ = try? ChildProcess.run(["rm", "-rf", directory]) }
    // argv is separated by zero bytes: proc(5).
    let own = try TestFiles.text("/proc/self/cmdline").split(separator: "\0").map(String.init)
    guard let program = own.first else { throw PartFailure("this process has no name") }
    return try ChildProcess.run(
      ["unshare", geteuid() == 0 ? "-nm" : "-rnm", TestFiles.parts + "/dns/inside", directory]
        + [program, "--testing-library", "swift-testing", "--filter", "/\(name)\\("],
      environment: [mark + "=1"], before: .generous)
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips, and says why, where there are no namespaces.
  static var needsNamespaces: Self {
    .enabled(if: InNamespace.isInstalled, "unshare or ip is not installed: CSupport/install --tests")
  }
}
