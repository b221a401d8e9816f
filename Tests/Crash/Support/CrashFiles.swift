#if DEBUG
import Glibc
@testable import TestSupport

/// What a process that may be killed says, and what is left of it.
enum CrashFiles {
  /// Nothing where there is no file.
  static func read(_ path: String) -> [UInt8] { (try? TestFiles.read(path)) ?? [] }

  /// One write(2): a process that is killed says a line or does not.
  static func say(_ line: String, to descriptor: Int32 = STDOUT_FILENO) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe Glibc.write(descriptor, bytes, bytes.count)
  }
}
#endif
