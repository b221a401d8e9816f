#if DEBUG
@testable import TestSupport

/// What a process asked of the file system, in order: the notes of `recorder.c`.
struct Trace {
  enum Event {
    case written(file: UInt64, offset: Int, bytes: [UInt8])
    case truncated(file: UInt64, length: Int)
    case synced(file: UInt64)
    case created(file: UInt64, path: String)
    case removed(path: String)
    case renamed(from: String, to: String)
    /// A directory.
    case made(path: String)
    /// A directory was synced.
    case listed(path: String)
    /// Lines of standard output.
    case said(String)
    /// A write to a descriptor with O_DSYNC returned.
    case landed(file: UInt64, offset: Int, count: Int)
  }

  private(set) var events: [Event] = []

  private static let headBytes = 32

  init(_ bytes: [UInt8]) throws {
    var place = 0
    while place < bytes.count {
      guard place + Self.headBytes <= bytes.count else { throw PartFailure("the trace is cut off") }
      func number(_ offset: Int) -> UInt64 {
        (0..<8).reversed().reduce(0) { $0 << 8 | UInt64(bytes[place + offset + $1]) }
      }
      let (kind, file, offset) = (number(0) & 0xFFFF_FFFF, number(8), Int(number(16)))
      let end = place + Self.headBytes + Int(number(24))
      guard end <= bytes.count else { throw PartFailure("the trace is cut off") }
      let content = Array(bytes[(place + Self.headBytes)..<end])
      events.append(try Self.event(kind, file, offset, content))
      place = end
    }
  }

  private static func event(_ kind: UInt64, _ file: UInt64, _ offset: Int, _ bytes: [UInt8]) throws -> Event {
    var text: String { String(decoding: bytes, as: UTF8.self) }
    switch kind {
    case 1: return .written(file: file, offset: offset, bytes: bytes)
    case 2: return .truncated(file: file, length: offset)
    case 3: return .synced(file: file)
    case 4: return .created(file: file, path: text)
    case 5: return .removed(path: text)
    case 6:
      let names = bytes.split(separator: 0, maxSplits: 1).map { String(decoding: $0, as: UTF8.self) }
      guard names.count == 2 else { throw PartFailure("the trace has half a name") }
      return .renamed(from: names[0], to: names[1])
    case 7: return .made(path: text)
    case 8: return .listed(path: text)
    case 9: return .said(text)
    case 10: return .landed(file: file, offset: offset, count: bytes.count)
    default: throw PartFailure("the trace has a note of kind \(kind)")
    }
  }
}
#endif
