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

  /// A path in the test's folder.
  subscript(_ name: String) -> String { scratch[name] }

  /// The body of `/n`, for the numbers that `serve` was given.
  static func body(_ number: Int) -> [UInt8] { BodyPattern.bytes(1_000 + number * 7, from: number) }

  func serve(_ numbers: Range<Int>) {
    for number in numbers { origin.on("/\(number)", .bytes(Self.body(number))) }
  }

  @discardableResult
  func write(_ name: String, _ lines: [String]) throws -> String {
    try scratch.write(name, lines.map { $0 + "\n" }.joined())
  }

  func writeList(_ numbers: some Sequence<Int>, _ name: String = "list") throws -> String {
    try write(name, numbers.map { origin.url("/\($0)") })
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
