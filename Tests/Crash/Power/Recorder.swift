#if DEBUG
import Glibc
@testable import TestSupport

/// The library that notes what a process writes, built for this run, and processes under it.
struct Recorder {
  /// Several directories deep, as a user's is: they too must be there after a power loss.
  static let storeName = "state/netspool/frozen"

  private let library: String

  /// Needs a C compiler: the one beside `swift`, or the system's.
  init(in folder: TestFolder) throws {
    library = folder["recorder.so"]
    let command =
      "clang -shared -fPIC -O1 -o '\(library)' '\(Self.source)' || cc -shared -fPIC -O1 -o '\(library)' '\(Self.source)'"
    guard unsafe system("{ \(command); } 2>'\(folder["compiler"])'") == 0 else {
      throw PartFailure("recorder.c: " + String(decoding: CrashFiles.read(folder["compiler"]), as: UTF8.self))
    }
  }

  private static let source: String = {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    return folder.joined(separator: "/") + "/recorder.c"
  }()

  /// Beside what a sanitizer wants preloaded.
  private var preloaded: String {
    unsafe getenv("LD_PRELOAD").map { unsafe library + ":" + String(cString: $0) } ?? library
  }

  func live(
    seed: UInt64, steps: Int, answersMax: Int, root: String, trace: String, said: String
  ) throws -> CrashChild.End {
    let child = try CrashChild(
      [
        "life", "--directory", "\(root)/\(Self.storeName)", "--seed", "\(seed)", "--steps", "\(steps)",
        "--answers", "\(answersMax)",
      ],
      environment: ["LD_PRELOAD=\(preloaded)", "CRASH_ROOT=\(root)", "CRASH_TRACE=\(trace)"], output: said)
    guard let end = child.wait(milliseconds: 60_000) else {
      throw PartFailure("a recorded life does not end")
    }
    return end
  }
}
#endif
