import Glibc

/// Reads a results file line by line in bounded memory. Lines that are no record are counted, not fatal:
/// a killed run leaves half a line at the end.
final class ResultsReader {
  /// Where a later run goes on writing.
  struct Resumption: Equatable {
    /// The length up to which the file is whole.
    var bytesKept = 0
    /// The last record is whole but its line feed is missing.
    var lacksNewline = false
  }

  enum Pull: Equatable {
    case record(ResultRecord)
    case unreadable
    case end
  }

  /// The longest line in bytes: a URL of 16 KiB and its name with every byte escaped.
  static let lineBytesMax = 262_144

  private let lines: LineReader
  private(set) var resumption = Resumption()
  private(set) var currentLine: Range<Int> = 0..<0

  init(_ path: String) throws(IOFailure) {
    lines = LineReader(try Descriptor(opening: path, O_RDONLY), lineBytesMax: Self.lineBytesMax)
  }

  func next() throws(IOFailure) -> Pull {
    switch try lines.next() {
    case .end, .starved: return .end
    case .tooLong: return unreadable()
    case .line(let range):
      currentLine = range
      guard let record = ResultRecord(line: lines[range]) else { return unreadable() }
      resumption = Resumption(
        bytesKept: Int(lines.bytesConsumed), lacksNewline: !lines.lastLineWasTerminated)
      return .record(record)
    }
  }

  /// The bytes of the line that gave the last record.
  var currentBytes: ArraySlice<UInt8> { lines[currentLine] }

  private func unreadable() -> Pull {
    if lines.lastLineWasTerminated { resumption = Resumption(bytesKept: Int(lines.bytesConsumed)) }
    return .unreadable
  }

  /// Marks in `ledger` what an earlier run finished, and says where to go on writing. A file that does not
  /// exist yet is an empty one.
  ///
  /// Only `done` counts. A record with another outcome is tried again, and its new line comes later.
  static func markDone(in path: String, _ ledger: Ledger) throws(IOFailure) -> Resumption {
    guard FileStatus(path: path) != nil else { return Resumption() }
    let reader = try ResultsReader(path)
    while true {
      switch try reader.next() {
      case .end: return reader.resumption
      case .unreadable: continue
      case .record(let record) where record.outcome == .done:
        try ledger.insert(Fingerprint(.done, record.url, record.output ?? ""))
      case .record: continue
      }
    }
  }
}
