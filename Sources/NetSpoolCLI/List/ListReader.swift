import Glibc

/// Pulls one usable line at a time from all sources in order. Holds one buffer, never the list.
///
/// A line is a URL, perhaps with options behind tabs (`LineOptions`), or a JSON object, or one of a CSV file whose first line
/// names the columns. Blank lines and lines that begin with `#` are
/// passed over; CRLF and a byte order mark are accepted.
final class ListReader {
  enum Pull: Equatable {
    case item(ListItem)
    case broken(BrokenLine)
    /// A slow pipe: poll `waitingFor`, then pull again.
    case starved
    /// A list was written to meanwhile; the next source follows.
    case changed(ListChange)
    case end
  }

  /// The longest line in bytes.
  static let lineBytesMax = 16_384

  private enum Open {
    case lines(LineReader)
    case arguments([String], next: Int)
  }

  private var open: [Open] = []
  private var current = 0
  /// The columns of the current source, when it is CSV.
  private var columns: [String]?
  private var strangers: Set<String> = []
  private var bytesTotal: Int64? = 0
  private var bytesDone: Int64 = 0

  /// Opens every source now, so that a mistyped path is found before anything is fetched.
  init(_ sources: [ListSource]) throws(IOFailure) {
    for source in sources { open.append(try opened(source)) }
  }

  private func opened(_ source: ListSource) throws(IOFailure) -> Open {
    switch source {
    case .arguments(let urls):
      return .arguments(urls, next: 0)
    case .standardInput:
      return .lines(reader(Descriptor(borrowing: 0, named: "standard input")))
    case .file(let path):
      return .lines(reader(try Descriptor(opening: path, O_RDONLY)))
    }
  }

  private func reader(_ descriptor: consuming Descriptor) -> LineReader {
    let reader = LineReader(descriptor, lineBytesMax: Self.lineBytesMax, mayBlock: false, isWatched: true)
    let size = reader.sourceStatus.flatMap { $0.isPlainFile ? Int64($0.size) : nil }
    bytesTotal = size.flatMap { size in bytesTotal.map { $0 + size } }
    return reader
  }

  /// The descriptor to poll after `.starved`.
  var waitingFor: Int32? {
    guard current < open.count, case .lines(let reader) = open[current] else { return nil }
    return reader.descriptorNumber
  }

  /// How much of the list has been read, 0...1; nil while a pipe hides its length.
  var fraction: Double? {
    guard let bytesTotal, bytesTotal > 0 else { return nil }
    return min(1, Double(bytesDone + bytesOfCurrent) / Double(bytesTotal))
  }

  private var bytesOfCurrent: Int64 {
    guard current < open.count, case .lines(let reader) = open[current] else { return 0 }
    return reader.bytesConsumed
  }

  /// The plain files among the sources, so that no output is written over them.
  var files: [FileFacts] {
    open.compactMap { source in
      guard case .lines(let reader) = source else { return nil }
      return reader.sourceStatus
    }
  }

  func next() throws(IOFailure) -> Pull {
    while current < open.count {
      switch open[current] {
      case .lines(let reader):
        if let pull = try pull(reader) { return pull }
      case .arguments(let urls, let next) where next < urls.count:
        open[current] = .arguments(urls, next: next + 1)
        return parsed(urls[next], source: "arguments", line: next + 1)
      case .arguments:
        current += 1
      }
    }
    return .end
  }

  /// Nil for lines that say nothing and for the end of one source.
  private func pull(_ reader: LineReader) throws(IOFailure) -> Pull? {
    switch try reader.next() {
    case .starved: return .starved
    case .touched(let hasGrown):
      return .changed(ListChange(source: reader.path, line: reader.lineNumber, hasGrown: hasGrown))
    case .tooLong: return broken(.tooLong, reader)
    case .line(let range): return parsed(range, of: reader)
    case .end:
      bytesDone += reader.bytesConsumed
      current += 1
      columns = nil
      return nil
    }
  }

  private func parsed(_ range: Range<Int>, of reader: LineReader) -> Pull? {
    let bytes = trimmed(range, of: reader)
    guard let first = reader[bytes].first, first != UInt8(ascii: "#") else { return nil }
    if holdsNUL(reader[bytes]) { return broken(.hasNUL, reader, reader[bytes]) }
    guard let text = String(validating: reader[bytes], as: UTF8.self) else {
      return broken(.notUTF8, reader, reader[bytes])
    }
    if reader.lineNumber == 1, let names = LineForm.columns(text) {
      if let problem = LineForm.problem(names) { return refused(reader, text, problem) }
      columns = names
      return nil
    }
    return parsed(text, source: reader.path, line: reader.lineNumber)
  }

  /// Without the byte order mark, the carriage return, and blanks at either end. A leading tab stays: it
  /// says that the URL is missing.
  private func trimmed(_ range: Range<Int>, of reader: LineReader) -> Range<Int> {
    var (from, to) = (range.lowerBound, range.upperBound)
    if reader.lineNumber == 1, reader[range].starts(with: [0xEF, 0xBB, 0xBF]) { from += 3 }
    while to > from, [0x0D, 0x20, 0x09].contains(reader.buffer[to - 1]) { to -= 1 }
    while from < to, reader.buffer[from] == 0x20 { from += 1 }
    return from..<to
  }

  private func holdsNUL(_ bytes: ArraySlice<UInt8>) -> Bool {
    unsafe bytes.withUnsafeBytes { unsafe memchr($0.baseAddress!, 0, $0.count) } != nil
  }

  private func parsed(_ text: String, source: String, line: Int) -> Pull {
    do throws(LineForm.Mistake) {
      var item = try LineForm.item(text, columns: columns, strangers: &strangers)
      item.line = line
      guard let problem = URLText.problem(item.url) else { return .item(item) }
      return broken(.notAURL(problem), text, source: source, line: line)
    } catch {
      return broken(.badOption(error.sentence), text, source: source, line: line)
    }
  }

  /// A CSV file whose columns are not all known: its rows would be fetched without what they ask for.
  private func refused(_ reader: LineReader, _ head: String, _ problem: String) -> Pull {
    bytesDone += reader.bytesConsumed
    current += 1
    return broken(.badOption(problem), head, source: reader.path, line: 1)
  }

  private func broken(_ cause: BrokenLine.Cause, _ text: String, source: String, line: Int) -> Pull {
    let alone = text.contains("\n") ? LineForm.line(text, nil, LineOptions()) : Array(text.utf8)
    let bytes = columns.map { LineForm.object(text, $0) } ?? alone
    return .broken(BrokenLine(cause: cause, source: source, line: line, bytes: bytes))
  }

  private func broken(_ cause: BrokenLine.Cause, _ reader: LineReader, _ bytes: ArraySlice<UInt8>? = nil)
    -> Pull
  {
    .broken(
      BrokenLine(
        cause: cause, source: reader.path, line: reader.lineNumber, bytes: bytes.map(Array.init),
        extent: bytes == nil ? reader.lastLineExtent : nil))
  }

  /// Reads a line again that was too long to be held, piece by piece. Good until the next pull.
  func read(_ line: BrokenLine, _ body: (ArraySlice<UInt8>) throws(IOFailure) -> Void) throws(IOFailure) {
    guard let extent = line.extent, current < open.count, case .lines(let reader) = open[current] else {
      return
    }
    try reader.read(extent, body)
  }
}

/// One line of the list that asks for something.
struct ListItem: Equatable, Sendable {
  var url: String
  /// The output name after the tab, as written; nil without one.
  var name: String?
  /// Where it stands, from 1, in its own source.
  var line: Int
  var options = LineOptions()
}

/// A line that cannot be used. It is reported with its number and never stops the job.
struct BrokenLine: Equatable, Sendable, CustomStringConvertible {
  enum Cause: Equatable, Sendable {
    case tooLong, notUTF8, hasNUL
    case notAURL(URLText.Problem)
    /// An option that says nothing; the sentence.
    case badOption(String)
  }

  var cause: Cause
  var source: String
  var line: Int
  /// The line itself, as the next run is to read it; nil where it was too long to be held.
  var bytes: [UInt8]?
  /// Where a line that was too long lies in its file; nil in a pipe.
  var extent: Range<Int64>?

  var description: String { "\(source):\(line): \(sentence)" }

  /// Whether people can read it.
  var isText: Bool {
    switch cause {
    case .tooLong, .notUTF8, .hasNUL: false
    case .notAURL, .badOption: true
    }
  }

  private var sentence: String {
    switch cause {
    case .tooLong: "the line is longer than \(HumanText.count(ListReader.lineBytesMax)) bytes"
    case .notUTF8: "the line is not UTF-8"
    case .hasNUL: "the line contains a NUL byte"
    case .notAURL(let problem): problem.sentence
    case .badOption(let sentence): sentence
    }
  }
}

/// Where lines come from: a file, standard input, or the command line itself.
enum ListSource: Equatable, Sendable {
  case file(String)
  case standardInput
  case arguments([String])

  /// Sorts arguments: `-` is standard input, what contains `://` is a URL, the rest are paths of lists.
  /// The order is kept; neighbouring URLs become one source.
  static func sources(of arguments: [String]) -> [ListSource] {
    var sources: [ListSource] = []
    for argument in arguments {
      if argument == "-" {
        sources.append(.standardInput)
      } else if !URLText.looksLikeURL(argument) {
        sources.append(.file(argument))
      } else if case .arguments(let urls) = sources.last {
        sources[sources.count - 1] = .arguments(urls + [argument])
      } else {
        sources.append(.arguments([argument]))
      }
    }
    return sources
  }
}
