import Glibc

/// Pulls one usable line at a time from all sources in order. Holds one buffer, never the list.
///
/// A line is a URL, perhaps with options behind tabs (`LineOptions`), or a JSON object, or a row of a table whose first line
/// names the columns, which may have several lines. Blank lines and lines that begin with `#` are
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

  static let lineBytesMax = 16_384
  /// The longest row of a table, which may have several lines.
  static let rowBytesMax = 65_536
  /// The longest JSON object. A row takes half of that at most: its line in the file of failed ones has a name besides, and the
  /// columns that are empty.
  static let objectBytesMax = 1 << 18

  private typealias Row = (scan: TableRow, bytes: [UInt8], line: Int)

  private enum Open {
    case lines(LineReader)
    case arguments([URLGlob], next: Int)
  }

  private var open: [Open] = []
  private var current = 0
  /// Of the current source, when it is a table.
  private var head: TableRow.Head?
  /// True if the current source is a table whose first line is too long to be held.
  private var isHeadTooLong = false
  /// The row whose quotes are still open: its bytes and its first line.
  private var row: Row?
  private var strangers: Set<String> = []
  private var bytesTotal: Int64? = 0
  private var bytesDone: Int64 = 0

  /// The number of the URL of `arguments` that comes next, of all that they stand for.
  private var argument = 0

  /// Opens every source now, so that a mistyped path is found before anything is fetched.
  /// - Parameter isGlobOff: brackets and braces in arguments are themselves.
  init(_ sources: [ListSource], isGlobOff: Bool = false) throws(IOFailure) {
    for source in sources { open.append(try opened(source, isGlobOff)) }
  }

  private func opened(_ source: ListSource, _ isGlobOff: Bool) throws(IOFailure) -> Open {
    switch source {
    case .arguments(let urls): return .arguments(urls.map { URLGlob($0, isOff: isGlobOff) }, next: 0)
    case .standardInput: return .lines(lines(try Descriptor.standardInput()))
    case .file(let path): return .lines(lines(try Descriptor(opening: path, O_RDONLY)))
    }
  }

  private func lines(_ descriptor: consuming Descriptor) -> LineReader {
    let reader = LineReader(descriptor, lineBytesMax: Self.objectBytesMax, isWatched: true)
    reader.onSkip = { [unowned self] piece in skim(piece) }
    let size = reader.source.status.flatMap { $0.isPlainFile ? Int64($0.size) : nil }
    bytesTotal = size.flatMap { size in bytesTotal.map { $0 + size } }
    return reader
  }

  /// Nil at the end, and where URLs are arguments.
  private var reader: LineReader? {
    guard current < open.count, case .lines(let reader) = open[current] else { return nil }
    return reader
  }

  /// The descriptor to poll after `.starved`.
  var waitingFor: Int32? { reader?.source.number }

  /// How much of the list has been read, 0...1; nil while a pipe hides its length.
  var fraction: Double? {
    guard let bytesTotal, bytesTotal > 0 else { return nil }
    return min(1, Double(bytesDone + (reader?.bytesConsumed ?? 0)) / Double(bytesTotal))
  }

  /// The plain files among the sources, so that no output is written over them.
  var files: [FileFacts] {
    open.compactMap { if case .lines(let reader) = $0 { reader.source.status } else { nil } }
  }

  func next() throws(IOFailure) -> Pull {
    while current < open.count {
      switch open[current] {
      case .lines(let reader): if let pull = try pull(reader) { return pull }
      case .arguments(let globs, let next):
        guard !globs.isEmpty else {
          current += 1
          continue
        }
        let isLast = next + 1 == globs[0].count
        open[current] =
          isLast ? .arguments(Array(globs.dropFirst()), next: 0) : .arguments(globs, next: next + 1)
        argument += 1
        return parsed(globs[0].url(next).text, source: "arguments", line: argument)
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
    case .tooLong:
      if isHeadTooLong { return refused(.tooLong, reader) }
      return row.map { overlong($0, reader) } ?? broken(.tooLong, reader)
    case .line(let range): return head == nil ? parsed(range, of: reader) : parsedRow(range, of: reader)
    case .end:
      if let row { return refused(.openQuote(row.line), reader) }
      endSource(reader)
      return nil
    }
  }

  private func endSource(_ reader: LineReader) {
    bytesDone += reader.bytesConsumed
    current += 1
    (head, row, isHeadTooLong) = (nil, nil, false)
  }

  private func parsed(_ range: Range<Int>, of reader: LineReader) -> Pull? {
    let bytes = trimmed(range, of: reader)
    guard let first = reader[bytes].first, first != UInt8(ascii: "#") else { return nil }
    if reader.lineNumber == 1, let other = OtherCoding(reader[range]) {
      return refused(.coded(other), reader)
    }
    if range.count > Self.lineBytesMax, first != UInt8(ascii: "{") {
      // Rows without the names of their columns would be taken for URLs.
      let isHead = reader.lineNumber == 1 && TableRow.Head(reader[bytes]) != nil
      return isHead ? refused(.tooLong, reader) : broken(.tooLong, reader)
    }
    if holdsNUL(reader[bytes]) { return broken(.hasNUL, reader, reader[bytes]) }
    guard let text = String(validating: reader[bytes], as: UTF8.self) else {
      return broken(.notUTF8, reader, reader[bytes])
    }
    if reader.lineNumber == 1, first != UInt8(ascii: "{"), !text.contains("://"),
      let head = TableRow.Head(reader[bytes])
    {
      if let problem = LineForm.problem(head) {
        return refused(.badOption(problem), reader, Array(text.utf8))
      }
      self.head = head
      return nil
    }
    return parsed(text, source: reader.path, line: reader.lineNumber)
  }

  /// Nil for a blank line, a comment, and a row that goes on.
  private func parsedRow(_ range: Range<Int>, of reader: LineReader) -> Pull? {
    guard let head else { return nil }
    var row = row ?? (TableRow(head.separator), [], reader.lineNumber)
    row.scan.take(reader[range])
    row.bytes += reader[range]
    guard row.bytes.count <= Self.rowBytesMax else { return overlong(row, reader) }
    self.row = row.scan.isOpen ? (row.scan, row.bytes + [0x0A], row.line) : nil
    if row.scan.isOpen { return nil }
    if row.bytes.last == 0x0D { row.bytes.removeLast() }
    guard row.bytes.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { return nil }
    return parsed(row.bytes[...], head, BrokenLine(cause: .hasNUL, source: reader.path, line: row.line))
  }

  /// Takes a piece of a row's line that is too long to be held: its quotes say where the row ends. Of a first line the first
  /// piece says whether it names columns.
  private func skim(_ piece: ArraySlice<UInt8>) {
    guard let reader else { return }
    if reader.bytesConsumed == 0 {
      let line = piece.drop { [0xEF, 0xBB, 0xBF, 0x20].contains($0) }
      isHeadTooLong = !"{#".utf8.contains(line.first ?? 0) && TableRow.Head(line) != nil
    }
    guard let head else { return }
    var row = row ?? (TableRow(head.separator), [], reader.lineNumber + 1)
    row.scan.take(piece)
    self.row = row
  }

  /// A row that is too long. Where its quotes are still open, they may be so up to the list's end.
  private func overlong(_ row: Row, _ reader: LineReader) -> Pull {
    if row.scan.isOpen { return refused(.openQuote(row.line), reader) }
    self.row = nil
    let extent = row.line == reader.lineNumber ? reader.lastLineExtent : nil
    return .broken(BrokenLine(cause: .tooLong, source: reader.path, line: row.line, extent: extent))
  }

  /// - Parameter broken: where it stands.
  private func parsed(_ row: ArraySlice<UInt8>, _ head: TableRow.Head, _ broken: BrokenLine) -> Pull? {
    var broken = broken
    broken.bytes = Array(row)
    if holdsNUL(row) { return .broken(broken) }
    broken.cause = .notUTF8
    guard String(validating: row, as: UTF8.self) != nil else { return .broken(broken) }
    let object = LineForm.object(row, head)
    (broken.cause, broken.bytes) = (.tooLong, object)
    if object.count > Self.objectBytesMax / 2 { return .broken(broken) }
    do throws(Mistake) {
      var item = try LineForm.item(row, of: head)
      item.line = broken.line
      guard let problem = URLText.problem(item.url) else { return .item(item) }
      if row.first == UInt8(ascii: "#"), !item.url.contains("://") { return nil }
      broken.cause = .notAURL(problem)
    } catch { broken.cause = .badOption(error.description) }
    return .broken(broken)
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
    let cause: BrokenLine.Cause
    do throws(Mistake) {
      var item = try LineForm.item(text, strangers: &strangers)
      item.line = line
      guard let problem = URLText.problem(item.url) else { return .item(item) }
      cause = .notAURL(problem)
    } catch { cause = .badOption(error.description) }
    let bytes = text.contains("\n") ? LineForm.line(text, nil, LineOptions()) : Array(text.utf8)
    return .broken(BrokenLine(cause: cause, source: source, line: line, bytes: bytes))
  }

  /// A source of which nothing more can be read rightly.
  private func refused(_ cause: BrokenLine.Cause, _ reader: LineReader, _ bytes: [UInt8]? = nil) -> Pull {
    let line = row?.line ?? reader.lineNumber
    endSource(reader)
    return .broken(BrokenLine(cause: cause, source: reader.path, line: line, bytes: bytes))
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
    if let extent = line.extent, let reader { try reader.read(extent, body) }
  }
}

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
    /// The quotes that open in a line are never closed.
    case openQuote(Int)
    /// The list is no text.
    case coded(OtherCoding)
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

  /// True if people can read it.
  var isText: Bool {
    switch cause {
    case .tooLong, .notUTF8, .hasNUL, .openQuote, .coded: false
    case .notAURL, .badOption: true
    }
  }

  private var sentence: String {
    switch cause {
    case .tooLong:
      "the line is too long: it has \(HumanText.count(ListReader.lineBytesMax)) bytes at most, the row of a table \(HumanText.count(ListReader.rowBytesMax)), a JSON object \(HumanText.count(ListReader.objectBytesMax))"
    case .notUTF8: "the line is not UTF-8"
    case .hasNUL: "the line contains a NUL byte"
    case .openQuote(let line):
      "the quotes that open in the row of line \(line) are not closed: nothing from there on is fetched"
    case .coded(let coding): "the list is \(coding.rawValue): \(coding.remedy)"
    case .notAURL(let problem): problem.sentence
    case .badOption(let sentence): sentence
    }
  }
}

/// What the first bytes of a list say that is no plain text.
enum OtherCoding: String, Equatable, Sendable {
  case gzip = "compressed by gzip"
  case zstd = "compressed by zstd"
  case utf16 = "UTF-16"

  init?(_ line: ArraySlice<UInt8>) {
    let marks: [([UInt8], Self)] = [
      ([0x1F, 0x8B], .gzip), ([0x28, 0xB5, 0x2F, 0xFD], .zstd), ([0xFF, 0xFE], .utf16),
      ([0xFE, 0xFF], .utf16),
    ]
    guard let mark = marks.first(where: { line.starts(with: $0.0) }) else { return nil }
    self = mark.1
  }

  var remedy: String {
    switch self {
    case .gzip: "'zcat LIST | netspool fetch -' reads it"
    case .zstd: "'zstdcat LIST | netspool fetch -' reads it"
    case .utf16: "'iconv -f UTF-16 -t UTF-8 LIST | netspool fetch -' reads it"
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
