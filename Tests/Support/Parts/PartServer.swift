import Glibc
import Synchronization

/// A real server of the tests, in a directory of its own. It ends with its last reference, with `stop()`, and with
/// the test process however that dies; its directory goes with it.
final class PartServer: Sendable {
  let directory: String
  private let process: ChildProcess
  /// The write end of the pipe that the launcher watches.
  private let lifeline: Mutex<TestDescriptor?>

  /// Starts a program, which stays in the foreground. The directory is its own from now on.
  ///
  /// - Parameter sockets: what it listens on, three at most: its descriptors from 5 on.
  init(
    _ arguments: [String], in directory: String, environment: [String] = [], sockets: [LocalSocket] = []
  ) throws {
    let (lifeline, watched) = try TestDescriptor.makePair()
    self.directory = directory
    self.lifeline = Mutex(lifeline)
    var passing: [Int32: TestDescriptor] = [3: watched]
    for (number, socket) in zip(Int32(5)..., sockets) { passing[number] = socket.descriptor }
    process = try ChildProcess(
      [TestFiles.parts + "/launch", directory] + arguments, environment: environment, passing: passing)
  }

  deinit { stop() }

  func stop() {
    lifeline.withLock { $0 = nil }
    if process.wait() == nil { process.signal(SIGKILL) }
  }

  /// Dies where it stands, without a last word to anybody.
  func kill() {
    process.signal(SIGKILL)
    _ = process.wait()
    // The launcher died with it.
    _ = try? ChildProcess.run(["rm", "-rf", directory])
  }

  // MARK: Readiness

  /// Waits until it accepts connections. Such servers tell nobody when they do, so this asks again and again.
  func waitForPort(_ port: UInt16, before deadline: Deadline = .generous) throws {
    while (try? LocalSocket.connected(to: port)) == nil {
      guard deadline.millisecondsLeft > 0, process.wait(before: Deadline(after: .milliseconds(5))) == nil
      else { throw failure("did not start") }
    }
  }

  /// The next piece of what it prints, for those that say when they are ready.
  func output(before deadline: Deadline = .generous) throws -> String {
    String(decoding: try process.output.read(before: deadline), as: UTF8.self)
  }

  /// Reads what it prints until that fits; answers all of it.
  func output(until fits: (String) -> Bool, before deadline: Deadline = .generous) throws -> String {
    var printed = ""
    while !fits(printed) {
      let more = try output(before: deadline)
      guard !more.isEmpty else { throw failure("ended after: \(printed)") }
      printed += more
    }
    return printed
  }

  /// The port of one that chooses it and says `ready PORT`.
  func readyPort() throws -> UInt16 {
    let words = try output(until: { $0.hasSuffix("\n") }).split(whereSeparator: \.isWhitespace)
    guard words.count == 2, words[0] == "ready", let port = UInt16(words[1]) else {
      throw failure("said \(words)")
    }
    return port
  }

  /// What it printed and nobody has read, up to its end.
  func remainingOutput(before deadline: Deadline = .generous) throws -> String {
    String(decoding: try process.output.readToEnd(before: deadline), as: UTF8.self)
  }

  /// Gives it bytes on its standard input.
  func write(_ text: String) throws { try process.write(Array(text.utf8)) }

  /// With what the server said last.
  func failure(_ what: String) -> PartFailure {
    stop()
    let said = (try? process.errors.readToEnd(before: .generous)) ?? []
    return PartFailure("\(what): \(String(decoding: said, as: UTF8.self))")
  }

  // MARK: Files

  /// A file that it writes, a log for instance; empty while it is not there.
  func text(_ name: String) -> String { (try? TestFiles.text("\(directory)/\(name)")) ?? "" }

  /// The lines of a log, once they fit. Servers write a line when its answer is already on its way.
  func lines(_ name: String, until fits: ([Substring]) -> Bool, before deadline: Deadline = .generous) throws
    -> [Substring]
  {
    while true {
      let lines = text(name).split(separator: "\n")
      if fits(lines) { return lines }
      guard deadline.millisecondsLeft > 0 else { throw PartFailure("\(name) has only: \(lines)") }
      _ = process.wait(before: Deadline(after: .milliseconds(2)))
    }
  }

  /// Copies a file of `Tests/Parts` into a directory, with other words for what stands between two @.
  static func fill(_ template: String, _ values: [String: String], into path: String) throws {
    let text = try TestFiles.text("\(TestFiles.parts)/\(template)")
    let filled = text.replacing(/@([A-Z_]+)@/) { values[String($0.1)] ?? String($0.0) }
    try TestFiles.write(filled.utf8, to: path)
  }
}
