import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// The tool, an origin, and a store of frozen requests that outlives each call.
final class FrozenBench: Sendable {
  let bench: ToolBench
  var origin: ScriptedOrigin { bench.origin }

  init() throws { bench = try ToolBench() }

  var store: [String] { ["--frozen-store", bench["frozen"]] }

  func post(_ path: String = "/", _ more: [String]) -> [String] {
    ["post", origin.url(path), "--data", "a=b", "--freeze"] + more + store
  }

  /// Leaves a request in the store, and answers what is said about it.
  @discardableResult
  func leave(_ path: String = "/", _ more: [String] = []) throws -> String {
    let end = try Tool.run(post(path, ["--detach"] + more))
    #expect(end.exit == .status(0), "\(end.errors)")
    return end.output
  }

  func frozen(_ arguments: [String]) throws -> Tool.End { try Tool.run(["frozen"] + arguments + store) }

  /// What waits, one JSON object for each.
  func waiting() throws -> [String] {
    let end = try frozen(["list", "--json"])
    #expect(end.exit == .status(0), "\(end.errors)")
    return end.output.split(separator: "\n").map(String.init)
  }
}
