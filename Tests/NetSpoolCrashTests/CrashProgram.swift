import Testing

@testable import TestSupport
@testable import netspool_crash

/// The built program as a user would run it.
enum CrashProgram {
  /// Longer than any run here should take.
  private static let patience: Int32 = 1_200_000

  static func run(_ arguments: String...) throws -> (end: CrashChild.End?, output: String) {
    let folder = try TestFolder(in: TestFiles.temporary)
    let beside = TestFiles.program.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let child = try CrashChild(
      arguments, program: beside.joined(separator: "/") + "/netspool-crash", output: folder["said"])
    let end = child.wait(milliseconds: patience)
    return (end, String(decoding: CrashFiles.read(folder["said"]), as: UTF8.self))
  }
}
