#if DEBUG
import Glibc
@testable import NetSpool
@testable import TestSupport

/// A process that is going to be killed. What it says goes straight into a file, so nothing is lost with it.
final class CrashChild {
  enum End: Equatable {
    case exited(Int32)
    case killed(Int32)
  }

  private let process: pid_t
  /// Nobody writes to this pipe: it ends with the process.
  private let life: Int32
  private var end: End?

  /// Runs this program again, or another one. `output`: its standard output, appended to.
  init(
    _ arguments: [String], program: String = TestFiles.program, environment: [String] = [], output: String
  ) throws {
    let ends = try makePipe()
    life = ends.read
    defer { Glibc.close(ends.write) }
    process = try Self.start(
      [program] + arguments,
      environment + inheritedEnvironment(besides: environment) + ["SWIFT_BACKTRACE=enable=no"],
      output: output, life: ends.write)
  }

  deinit {
    _ = kill()
    Glibc.close(life)
  }

  /// Nil when it lives on after so many milliseconds; -1: as long as it takes.
  func wait(milliseconds: Int32 = -1) -> End? {
    if let end { return end }
    var watched = pollfd(fd: life, events: Int16(POLLIN), revents: 0)
    let deadline = MonotonicClock.now + Int64(milliseconds) * 1_000
    while true {
      let left = milliseconds < 0 ? -1 : Int32(max(0, (deadline - MonotonicClock.now + 999) / 1_000))
      let count = unsafe poll(&watched, 1, left)
      if count == 0 { return nil }
      if count > 0 { return reap() }
    }
  }

  /// As a power switch would.
  func kill() -> End {
    if let end { return end }
    Glibc.kill(process, SIGKILL)
    return reap()
  }

  private func reap() -> End {
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    let end = status & 0x7F == 0 ? End.exited(status >> 8 & 0xFF) : End.killed(status & 0x7F)
    self.end = end
    return end
  }

  // MARK: Starting

  static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }

  private static func start(
    _ words: [String], _ environment: [String], output: String, life: Int32
  ) throws -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe _ = posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    // The same number in the child, without close-on-exec.
    unsafe posix_spawn_file_actions_adddup2(&actions, life, 3)
    let argv = unsafe words.map { unsafe strdup($0) } + [nil]
    let envp = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer { unsafe (argv + envp).forEach { unsafe free($0) } }
    var child: pid_t = 0
    let failure = unsafe posix_spawn(&child, words[0], &actions, nil, argv, envp)
    guard failure == 0 else { throw PartFailure("start \(words[0]): errno \(failure)") }
    return child
  }
}
#endif
