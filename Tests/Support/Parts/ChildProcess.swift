import Dispatch
import Glibc
import Synchronization

/// A program that the test process started, the leader of a process group of its own.
final class ChildProcess: Sendable {
  enum Exit: Sendable, Hashable {
    case status(Int32)
    case signal(Int32)
  }

  /// What a program left that ran to its end.
  struct Result: Sendable {
    let exit: Exit
    let output: [UInt8]
    let errors: [UInt8]
  }

  let identifier: pid_t
  /// Our ends; the child has the others as 0, 1 and 2.
  let output: TestDescriptor
  let errors: TestDescriptor
  private let input: Mutex<TestDescriptor?>
  private let fate = Fate()

  /// Starts `arguments[0]`, looked up in PATH and where servers live. `passing` says which of our
  /// descriptors the child gets, by the number it sees them under.
  init(_ arguments: [String], environment: [String] = [], passing: [Int32: TestDescriptor] = [:]) throws {
    let (input, childInput) = try TestDescriptor.makePair()
    let (output, childOutput) = try TestDescriptor.makePair()
    let (errors, childErrors) = try TestDescriptor.makePair()
    var descriptors = passing
    (descriptors[0], descriptors[1], descriptors[2]) = (childInput, childOutput, childErrors)
    identifier = try spawn(
      arguments, environment: ownEnvironment() + environment, descriptors: descriptors.mapValues(\.number),
      leadsGroup: true)
    withExtendedLifetime(descriptors) {}
    self.input = Mutex(input)
    self.output = output
    self.errors = errors
    fate.await(identifier)
  }

  /// A child does not outlive its last reference.
  deinit { signal(SIGKILL) }

  func write(_ bytes: [UInt8]) throws {
    try input.withLock { try $0?.write(bytes) }
  }

  /// The child reads its end of input.
  func closeInput() { input.withLock { $0 = nil } }

  /// How it ended, or nil when it goes on at the deadline. Blocks the calling thread.
  func wait(before deadline: Deadline = .generous) -> Exit? {
    _ = fate.ended.wait(timeout: .now() + .milliseconds(Int(deadline.millisecondsLeft)))
    return fate.exit.withLock { $0 }
  }

  /// Signals the whole group, unless its leader is gone: its number may then be somebody else's.
  func signal(_ number: Int32) {
    fate.exit.withLock { exit in
      if exit == nil { kill(-identifier, number) }
    }
  }

  /// Runs a program to its end and collects what it printed; kills it at the deadline.
  static func run(
    _ arguments: [String], environment: [String] = [], before deadline: Deadline = .generous
  ) throws -> Result {
    let child = try ChildProcess(arguments, environment: environment)
    child.closeInput()
    defer { child.signal(SIGKILL) }
    // Standard error is read second: it waits in the socket, which holds more than a message.
    let output = try child.output.readToEnd(before: deadline)
    let errors = try child.errors.readToEnd(before: deadline)
    guard let exit = child.wait(before: deadline) else { throw PartFailure("\(arguments[0]) goes on") }
    return Result(exit: exit, output: output, errors: errors)
  }
}

/// How a child ended, found out by a thread that waits for it.
final class Fate: Sendable {
  let exit = Mutex<ChildProcess.Exit?>(nil)
  let ended = DispatchGroup()

  /// A thread of its own per child: a blocked one of the shared pool would be one too few elsewhere.
  func await(_ child: pid_t) {
    ended.enter()
    DispatchQueue(label: "child \(child)").async { self.reap(child) }
  }

  /// Looks without taking first: a child that is not taken keeps its number, so `signal` and the taking
  /// exclude each other under the lock and nobody else's process is ever signalled.
  private func reap(_ child: pid_t) {
    var information = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(child), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    exit.withLock { exit in
      var status: Int32 = 0
      _ = unsafe waitpid(child, &status, 0)
      exit = status & 0x7F == 0 ? .status(status >> 8 & 0xFF) : .signal(status & 0x7F)
    }
    ended.leave()
  }
}
