import Glibc
import NetSpoolTesting

@testable import NetSpoolCLI
@testable import TestSupport

/// The built program, a real origin, and a folder of the test's own.
final class ToolBench: Sendable {
  let origin: ScriptedOrigin
  private let scratch: TestFolder

  init() throws {
    origin = try ScriptedOrigin()
    scratch = try TestFolder()
  }

  /// The SHA-256 of the five bytes "hello".
  static let digestOfHello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

  /// A path in the test's folder.
  subscript(_ name: String) -> String { scratch[name] }

  /// The body of `/n`, for the numbers that `serve` was given.
  static func body(_ number: Int) -> [UInt8] { BodyPattern.bytes(1_000 + number * 7, from: number) }

  func serve(_ numbers: Range<Int>) {
    for number in numbers { origin.on("/\(number)", .bytes(Self.body(number))) }
  }

  /// Writes lines in which `{u}` is the origin.
  @discardableResult
  func write(_ name: String, _ lines: [String]) throws -> String {
    try scratch.write(name, filled(lines.map { $0 + "\n" }.joined()))
  }

  @discardableResult
  func writeList(_ numbers: some Sequence<Int>, _ name: String = "list") throws -> String {
    try write(name, numbers.map { origin.url("/\($0)") })
  }

  /// Runs a command line to its end, in the test's folder.
  func run(_ line: String, input: String = "", environment: [String] = []) throws -> Tool.End {
    try Tool.run(words(line), in: self[""], input: input, environment: environment)
  }

  /// The same of `netspool fetch`, without progress.
  func fetch(_ line: String, input: String = "", environment: [String] = []) throws -> Tool.End {
    try run("fetch --progress never \(line)", input: input, environment: environment)
  }

  /// Runs a command line as a shell does, after another command and with its redirections.
  func shell(_ line: String, after command: String = "", _ redirections: String = "") throws -> Tool.End {
    let script = "\(command) exec \"$0\" \"$@\" \(redirections)"
    return try Tool.run(["-c", script, Tool.path()] + words(line), program: "/bin/sh", in: self[""])
  }

  /// Starts a command line, in the test's folder.
  func start(_ line: String) throws -> Tool { try Tool(words(line), in: self[""]) }

  func words(_ line: String) -> [String] { filled(line).split(separator: " ").map(String.init) }

  /// A text in which `{u}` is the origin, and `{h}` its host and port.
  private func filled(_ text: String) -> String {
    // Some lists have 20,000 lines without.
    guard text.utf8.contains(UInt8(ascii: "{")) else { return text }
    return text.replacing("{u}", with: origin.url("")).replacing("{h}", with: "127.0.0.1:\(origin.port)")
  }

  /// Nil when there is none.
  func read(_ name: String) -> [UInt8]? { try? scratch.read(name) }

  func text(_ name: String) -> String? { read(name).map { String(decoding: $0, as: UTF8.self) } }

  /// Those of the numbers whose file is not byte for byte what was served.
  func wrong(_ numbers: some Sequence<Int>, in folder: String = "out") -> [Int] {
    numbers.filter { read("\(folder)/\($0)") != Self.body($0) }
  }

  func results(_ name: String) throws -> [ResultRecord] {
    let reader = try ResultsReader(self[name])
    var records: [ResultRecord] = []
    while true {
      switch try reader.next() {
      case .record(let record): records.append(record)
      case .unreadable: throw IOFailure(action: "understand", path: name, code: 0)
      case .end: return records
      }
    }
  }
}

extension TestFiles {
  /// The kind of a file and its permissions, of a link its own; 0 when there is none.
  static func mode(_ path: String) -> mode_t {
    var raw = stat()
    return unsafe lstat(path, &raw) == 0 ? raw.st_mode : 0
  }
}

extension DemoFolder {
  /// True when a file holds `count` bytes of the generated pattern.
  static func holdsPattern(_ path: String, count: Int) -> Bool {
    var (length, isRight) = (0, true)
    do throws(IOFailure) {
      try Descriptor(opening: path, O_RDONLY).eachPiece { piece in
        isRight = isRight && BodyPattern.matches(piece, at: length)
        length += piece.count
      }
    } catch { return false }
    return isRight && length == count
  }
}
