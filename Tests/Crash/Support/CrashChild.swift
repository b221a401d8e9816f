#if DEBUG
import Dispatch
import Glibc
import Synchronization
@testable import TestSupport

/// A process that is going to be killed. What it says goes straight into a file, so nothing is lost with it.
final class CrashChild {
  typealias End = ChildProcess.Exit

  private let process: pid_t
  private let fate = Fate()

  /// Runs this program again, or another one. `output`: its standard output, appended to.
  init(
    _ arguments: [String], program: String = TestFiles.program, environment: [String] = [], output: String
  ) throws {
    let input = try unsafe TestDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC), from: "open")
    let file = try unsafe TestDescriptor(
      owning: open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600), from: "open \(output)")
    process = try spawn(
      [program] + arguments,
      environment: narrowEnvironment(with: environment + ["SWIFT_BACKTRACE=enable=no"]),
      descriptors: [0: input.number, 1: file.number])
    fate.await(process)
  }

  deinit { kill() }

  /// Nil when it lives on after so many milliseconds.
  func wait(milliseconds: Int32) -> End? {
    _ = fate.ended.wait(timeout: .now() + .milliseconds(Int(milliseconds)))
    return fate.exit.withLock { $0 }
  }

  /// As a power switch would.
  func kill() {
    fate.exit.withLock { exit in
      if exit == nil { Glibc.kill(process, SIGKILL) }
    }
    fate.ended.wait()
  }
}
#endif
