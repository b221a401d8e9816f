import Glibc
import NetSpool
import NetSpoolTesting

/// A line of a results file.
///
///     {"url":"https://…","output":"a.png","outcome":"done","status":200,"bytes":8192,"source":"network",
///      "contentType":"image/png","etag":"\"v1\"","attempts":1,"ended":"2026-01-31T12:00:00.000Z",
///      "timings":{"queue":0.012,"dns":0,"connect":0,"tls":0,"firstByte":0.8,"total":0.95}}
///
/// `outcome` is `done`, `failed` (for good) or `failed-for-now`; failures have `error` and mostly `reason`. A
/// thumbnail has `width`, `height` and `format` as well, the bytes of its picture as `sourceBytes`, and what
/// was asked for as `thumbnail`. User and password of a URL are masked (`URLText.recorded`).
/// What a list says besides, captions and labels, stands behind these fields; under `list_NAME` where it has the name of one.
/// Timings are milliseconds, times RFC 3339. `finalURL` is there after redirects. Fields without a value are left out.
struct ResultRecord: Equatable, Sendable {
  /// What `outcome` says. What failed on this machine is for the next run, too.
  private static let endings: [String: FetchOutcome.Ending] = [
    "done": .done, "failed": .failed(.forGood), "failed-for-now": .failed(.forNow),
  ]

  var url: String
  var output: String?
  /// What became of it. Its `finalURL` is there after redirects only.
  var end: FetchOutcome
  var tar: String?
  var ended: String?
  /// What the list says besides.
  var others: [LineOptions.Other] = []

  static let names: Set = [
    "url", "output", "tar", "outcome", "status", "bytes", "source", "error", "reason", "finalURL",
    "contentType", "etag", "width", "height", "format", "sourceBytes", "thumbnail", "attempts", "sha256",
    "ended", "timings",
  ]

  init(url: String, output: String? = nil, _ ending: FetchOutcome.Ending) {
    (self.url, self.output, end) = (url, output, FetchOutcome(ending))
    end.timings = nil
  }

  /// Nil for what was cancelled: it has no result yet.
  init?(_ item: FetchItem, _ end: FetchOutcome) {
    if end.ending == .cancelled { return nil }
    self.end = end
    (url, output, tar) = (URLText.recorded(item.url), end.place?.member ?? item.output, end.place?.tar)
    self.end.finalURL = end.finalURL == item.url ? nil : end.finalURL.map(URLText.recorded)
    others = item.options.others.map { other in
      Self.names.contains(other.name) ? .init(name: "list_\(other.name)", json: other.json) : other
    }
  }

  /// With its end.
  var line: [UInt8] {
    JSONText.object { json in
      json.field("url", url)
      json.field("output", output)
      json.field("tar", tar)
      json.field("outcome", Self.endings.first { $0.value == end.ending }?.key ?? "failed-for-now")
      json.field("status", end.status)
      json.field("bytes", end.bytes)
      json.field("source", end.source?.rawValue)
      json.field("error", end.error)
      json.field("reason", end.reason)
      json.field("finalURL", end.finalURL)
      json.field("contentType", end.contentType)
      json.field("etag", end.etag)
      if let picture = end.picture {
        json.field("width", picture.width)
        json.field("height", picture.height)
        json.field("format", picture.format)
        json.field("sourceBytes", picture.sourceBytes)
        json.field("thumbnail", picture.transform)
      }
      json.field("attempts", end.attempts)
      json.field("sha256", end.sha256)
      json.field("ended", ended)
      if let timings = end.timings { Self.write(timings, to: &json) }
      for other in others { json.field(other.name, raw: other.json) }
    } + [0x0A]
  }

  private static func write(_ timings: FetchOutcome.Timings, to json: inout JSONText) {
    json.object("timings") { json in
      json.field("queue", thousandths: timings.queue)
      json.field("dns", thousandths: timings.dns)
      json.field("connect", thousandths: timings.connect)
      json.field("tls", thousandths: timings.tls)
      json.field("firstByte", thousandths: timings.firstByte)
      json.field("total", thousandths: timings.total)
    }
  }

  /// Reads one line, keys in any order. Nil when it is not a whole record.
  init?(line: ArraySlice<UInt8>) {
    var record = ResultRecord(url: "", .failed(.forGood))
    var (hasURL, hasOutcome) = (false, false)
    var scanner = JSONScanner(line)
    let isWhole: Void? = try? scanner.wholeObject { key, value in
      if key == "url" { hasURL = true }
      if key == "outcome" { hasOutcome = true }
      try record.take(key, from: &value)
    }
    guard isWhole != nil, hasURL, hasOutcome else { return nil }
    self = record
  }

  private mutating func take(_ key: String, from value: inout JSONScanner) throws {
    switch key {
    case "url": url = try value.string()
    case "outcome": end.ending = try Self.endings[value.string()] ?? { throw JSONScanner.Malformed() }()
    case "output": output = try value.string()
    case "tar": tar = try value.string()
    case "status": end.status = Int(try value.integer())
    case "bytes": end.bytes = try value.integer()
    case "source": end.source = NetworkResponse.Source(rawValue: try value.string())
    case "error": end.error = try value.string()
    case "reason": end.reason = try value.string()
    case "attempts": end.attempts = Int(try value.integer())
    case "sha256": end.sha256 = try value.string()
    case "finalURL": end.finalURL = try value.string()
    case "contentType": end.contentType = try value.string()
    case "etag": end.etag = try value.string()
    case "ended": ended = try value.string()
    case "width": picture.width = Int(try value.integer())
    case "height": picture.height = Int(try value.integer())
    case "format": picture.format = try value.string()
    case "sourceBytes": picture.sourceBytes = try value.integer()
    case "thumbnail": picture.transform = try value.string()
    case "timings": try value.skipValue()
    default: others.append(LineOptions.Other(name: key, json: try value.rawValue()))
    }
  }

  private var picture: FetchOutcome.PictureFacts {
    get { end.picture ?? FetchOutcome.PictureFacts() }
    set { end.picture = newValue }
  }
}

/// Reads a results file line by line in bounded memory. Lines that are no record are counted, not fatal:
/// a killed run leaves half a line at the end.
final class ResultsReader {
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

  /// The longest line in bytes: a row of a list with every byte escaped, and what became of it.
  static let lineBytesMax = 1 << 19

  private let lines: LineReader
  private(set) var resumption = Resumption()
  private(set) var currentLine: Range<Int> = 0..<0

  init(_ path: String) throws(IOFailure) {
    lines = LineReader(try Descriptor(opening: path, O_RDONLY), lineBytesMax: Self.lineBytesMax)
  }

  func next() throws(IOFailure) -> Pull {
    switch try lines.next() {
    case .end, .starved, .touched: return .end
    case .tooLong: return unreadable()
    case .line(let range):
      currentLine = range
      guard let record = ResultRecord(line: lines[range]) else { return unreadable() }
      resumption = Resumption(bytesKept: Int(lines.bytesConsumed), lacksNewline: !lines.lastLineWasTerminated)
      return .record(record)
    }
  }

  var currentBytes: ArraySlice<UInt8> { lines[currentLine] }

  private func unreadable() -> Pull {
    if lines.lastLineWasTerminated { resumption = Resumption(bytesKept: Int(lines.bytesConsumed)) }
    return .unreadable
  }

  /// Marks in `ledger` what an earlier run finished, and says where to go on writing. A file that does not
  /// exist yet is an empty one.
  ///
  /// Only `done` counts. A record with another outcome is tried again, and its new line comes later. Of several lines for one
  /// file the last one says what was made of its body.
  /// - Parameter named: the folder whose files answers name. There a URL is done whose file is there as it was, and keeps its
  ///   name.
  static func markDone(in path: String, _ ledger: Ledger, _ named: OutputFolder? = nil) throws(IOFailure)
    -> Resumption
  {
    try eachDone(in: path) { record throws(IOFailure) in
      let output = record.output ?? ""
      if let named, named.bytes(of: output) == record.end.bytes {
        try ledger.insert(Fingerprint(.held, output), OutputNames.heldAsFile)
        try ledger.set(Fingerprint(.done, record.url), Ledger.value(bytes: record.end.bytes))
      }
      try ledger.set(Fingerprint(.done, record.url, output), Ledger.value(bytes: record.end.bytes))
      if let digest = record.end.sha256 {
        try ledger.set(Fingerprint(.digest, record.url, output), Ledger.value(text: digest))
      }
      let made = Fingerprint(.made, record.url, output)
      let before = try ledger.value(made)
      guard before != nil || record.end.picture != nil else { return }
      try ledger.set(made, Ledger.value(text: record.end.picture?.transform))
    }
  }

  /// Marks which items of tars have their line already. What is done only the tars say.
  static func markWritten(in path: String, _ ledger: Ledger) throws(IOFailure) -> Resumption {
    try eachDone(in: path) { record throws(IOFailure) in
      try ledger.set(Fingerprint(.result, record.url, SampleName(record.output ?? "").key), 0)
    }
  }

  private static func eachDone(in path: String, _ body: (ResultRecord) throws(IOFailure) -> Void)
    throws(IOFailure) -> Resumption
  {
    guard FileFacts(path: path) != nil else { return Resumption() }
    let reader = try ResultsReader(path)
    while true {
      switch try reader.next() {
      case .end: return reader.resumption
      case .unreadable: continue
      case .record(let record) where record.end.ending == .done: try body(record)
      case .record: continue
      }
    }
  }
}
