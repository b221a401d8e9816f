import Dispatch
import Glibc
import Synchronization
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// The built program as a child process, as a user's shell would run it.
final class Tool: Sendable {
  /// Longer than any test should take; one that meets it has failed.
  static let patience = DispatchTimeInterval.seconds(120)

  typealias Exit = ChildProcess.Exit
  /// What is left of a tool that has run.
  struct End {
    let exit: Exit?
    let output: String
    let errors: String

    /// Expects this exit status, and a text on standard error; all that was printed is in the failure.
    @discardableResult
    func expect(
      status: Int32, saying text: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) -> End {
      #expect(exit == .status(status), "\(self)", sourceLocation: sourceLocation)
      if let text { #expect(errors.contains(text), "\(self)", sourceLocation: sourceLocation) }
      return self
    }
  }

  let output = Catcher()
  let errors = Catcher()
  private let identifier: pid_t
  private let fate = Fate()
  /// Where the child keeps what it stores unless the test names a place: nothing of one test is found by another.
  private let home: TestFolder

  /// - Parameters:
  ///   - program: nil is the tool itself.
  ///   - folder: where it runs; nil is where the tests run.
  ///   - input: what it reads from standard input.
  ///   - output: a descriptor for its standard output instead of one that is caught; it stays the caller's.
  init(
    _ arguments: [String], program: String? = nil, in folder: String? = nil, input: String = "",
    environment: [String] = [], output given: Int32? = nil
  ) throws {
    let (inputRead, inputWrite) = try makePipe()
    let (outputRead, outputWrite) = try makePipe()
    let (errorsRead, errorsWrite) = try makePipe()
    // posix_spawn's own way to a folder is not visible to Swift.
    let way = folder.map { ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", $0] } ?? []
    let words = way + [try program ?? Self.path()] + arguments
    let home = try TestFolder()
    self.home = home
    let places = ["XDG_CACHE_HOME", "XDG_STATE_HOME"].filter { name in
      !environment.contains { $0.hasPrefix("\(name)=") }
    }
    let environment = environment + places.map { "\($0)=\(home.path)/\($0)" }
    identifier = try spawn(
      words, environment: narrowEnvironment(with: environment),
      descriptors: [0: inputRead, 1: given ?? outputWrite, 2: errorsWrite])
    for end in [inputRead, outputWrite, errorsWrite] { close(end) }
    output.catchAll(from: outputRead)
    errors.catchAll(from: errorsRead)
    feed(input, to: inputWrite)
    fate.await(identifier)
  }

  /// A child does not outlive its test.
  deinit { signal(SIGKILL) }

  /// Runs the tool to its end.
  static func run(
    _ arguments: [String], program: String? = nil, in folder: String? = nil, input: String = "",
    environment: [String] = []
  ) throws -> End {
    let tool = try Tool(arguments, program: program, in: folder, input: input, environment: environment)
    return End(exit: tool.wait(), output: tool.output.text, errors: tool.errors.text)
  }

  /// How it ended, with everything it printed caught; nil when it goes on for too long.
  func wait() -> Exit? {
    guard fate.ended.wait(timeout: .now() + Self.patience) == .success else { return nil }
    guard output.waitForEnd(), errors.waitForEnd() else { return nil }
    return fate.exit.withLock { $0 }
  }

  /// Runs the command that it printed behind a mark, as a user would paste it.
  func runCommand(after mark: String) throws -> End {
    let text = errors.text
    let start = try #require(text.firstRange(of: mark), "\(text)").upperBound
    return try Self.run(
      ["-c", String(text[start...].prefix { $0 != "\n" })], program: "/bin/sh",
      environment: ["PATH=\(Self.folder):/usr/bin:/bin"])
  }

  var isOver: Bool { fate.exit.withLock { $0 != nil } }

  func signal(_ number: Int32) {
    fate.exit.withLock { exit in
      if exit == nil { kill(identifier, number) }
    }
  }

  /// The program: the one that `swift build -c release` has made of what stands in Sources now, which starts in a fifth of the
  /// time, or the one beside the test bundle.
  static func path() throws -> String { try found.get() }

  private static let found = Result {
    let folder = Tool.folder
    let (own, optimised) = (folder + "/netspool", folder + "/../release/netspool")
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
    let sources = ["Sources", "Package.swift"].map { "\(parts.joined(separator: "/"))/\($0)" }
    let changed = try run(sources + ["-newer", optimised, "-print", "-quit"], program: "/usr/bin/find")
    return changed.exit == .status(0) && changed.output.isEmpty ? optimised : own
  }

  static var folder: String {
    let path = TestFiles.program
    return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }

  private func feed(_ text: String, to end: Int32) {
    DispatchQueue(label: "tool.input").async {
      try? Descriptor(borrowing: end, named: "a pipe").write(Array(text.utf8))
      close(end)
    }
  }
}

/// What comes out of a pipe.
final class Catcher: Sendable {
  private let state = Mutex<(bytes: [UInt8], isOver: Bool)>(([], false))
  private let news = DispatchSemaphore(value: 0)

  var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

  /// False when it ends, or too much time passes, without the text.
  func wait(for wanted: String) -> Bool { waitForEnd(or: wanted) && text.contains(wanted) }

  /// False when too much time passes before it ends, or has this text.
  func waitForEnd(or wanted: String? = nil) -> Bool {
    let deadline = DispatchTime.now() + Tool.patience
    while !state.withLock({ $0.isOver }), wanted.map({ !text.contains($0) }) ?? true {
      guard news.wait(timeout: deadline) == .success else { return false }
    }
    return true
  }

  fileprivate func catchAll(from end: Int32) {
    DispatchQueue(label: "tool.catcher").async { [self] in
      let source = Descriptor(borrowing: end, named: "a pipe")
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while let count = try? source.read(into: &buffer, at: 0, count: buffer.count), count > 0 {
        state.withLock { $0.bytes += buffer[..<count] }
        news.signal()
      }
      close(end)
      state.withLock { $0.isOver = true }
      news.signal()
    }
  }
}
