import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// A store of frozen requests that outlives each call.
extension ToolBench {
  var store: [String] { ["--frozen-store", self["frozen"]] }

  func post(_ path: String = "/", _ more: [String] = []) -> [String] {
    ["post", origin.url(path), "--data", "a=b", "--freeze"] + more + store
  }

  /// Leaves a request in the store, and answers what is said about it.
  @discardableResult
  func leave(_ path: String = "/", _ more: [String] = []) throws -> String {
    try Tool.run(post(path, ["--detach"] + more)).expect(status: 0).output
  }

  func frozen(_ line: String, _ more: [String] = []) throws -> Tool.End {
    try Tool.run(words("frozen \(line)") + more + store)
  }

  /// What waits, one JSON object for each.
  func waiting() throws -> [String] {
    try frozen("list --json").expect(status: 0).output.split(separator: "\n").map(String.init)
  }
}
