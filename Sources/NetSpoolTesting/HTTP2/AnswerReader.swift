/// Reads an answer that was written for HTTP/1.1, in pieces of any size, so that HTTP/2 can send it.
struct AnswerReader {
  struct Head {
    let status: Int
    let fields: [HeaderField]
    /// The connection is to end behind the answer.
    var closes = false
  }

  enum Event {
    /// 1xx: another head follows.
    case interim(Head)
    case head(Head)
    case body(ArraySlice<UInt8>)
    case end(trailers: [HeaderField])
    /// No HTTP/1.1: there is no way to say it in HTTP/2.
    case malformed
  }

  private enum State {
    case head
    case length(Int)
    case chunked(ChunkedReader)
    case untilClose
    case done
  }

  /// Fields for which HTTP/2 has other means (RFC 9113 section 8.2.2).
  private static let dropped = [
    "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
  ]

  /// Longer heads are cut off: a script may send one that never ends.
  private static let headBytesMax = 1 << 20

  private let isHead: Bool
  private var state = State.head
  private var head: [UInt8] = []

  /// `method` is that of the request.
  init(method: String) { isHead = method == "HEAD" }

  var isDone: Bool { if case .done = state { true } else { false } }

  /// Reads these bytes. Bytes behind the end of the answer say nothing.
  mutating func read(_ bytes: ArraySlice<UInt8>, _ see: (Event) -> Void) {
    var rest = bytes
    while !rest.isEmpty, !isDone {
      switch state {
      case .head: readHead(&rest, see)
      case .length(let left):
        let mine = rest.prefix(left)
        see(.body(mine))
        rest = rest[mine.endIndex...]
        if mine.count == left { end(see) } else { state = .length(left - mine.count) }
      case .chunked(var reader): readChunks(&reader, &rest, see)
      case .untilClose:
        see(.body(rest))
        return
      case .done: return
      }
    }
  }

  /// Nothing more comes; true when that ends the answer.
  mutating func endsHere() -> Bool {
    if case .untilClose = state { state = .done }
    return isDone
  }

  private mutating func end(_ see: (Event) -> Void, trailers: [HeaderField] = []) {
    state = .done
    see(.end(trailers: trailers))
  }

  private mutating func fail(_ see: (Event) -> Void) {
    state = .done
    see(.malformed)
  }

  private mutating func readChunks(
    _ reader: inout ChunkedReader, _ rest: inout ArraySlice<UInt8>, _ see: (Event) -> Void
  ) {
    // Taken out and put back, so that what the reader collects is not copied.
    state = .done
    do throws(RequestFault) {
      rest = rest.dropFirst(try reader.read(rest, limits: OriginLimits()) { see(.body($0)) })
      if reader.isDone { end(see, trailers: reader.trailers) } else { state = .chunked(reader) }
    } catch {
      fail(see)
    }
  }

  private mutating func readHead(_ rest: inout ArraySlice<UInt8>, _ see: (Event) -> Void) {
    while let byte = rest.popFirst() {
      head.append(byte)
      guard head.count < Self.headBytesMax else { return fail(see) }
      guard byte == 0x0a else { continue }
      // A line that ends otherwise is no line, and the blank one would never come.
      guard head.suffix(2).first == 0x0d else { return fail(see) }
      guard head.suffix(4).elementsEqual("\r\n\r\n".utf8) else { continue }
      defer { head.removeAll() }
      guard let read = Self.parse(head), read.status != 101 else { return fail(see) }
      begin(read, see)
      return
    }
  }

  private mutating func begin(_ read: (status: Int, fields: [HeaderField]), _ see: (Event) -> Void) {
    let kept = read.fields.filter { !Self.dropped.contains($0.name) }
    let connection = read.fields.all("connection")
    let head = Head(status: read.status, fields: kept, closes: connection.contains { $0.contains("close") })
    if read.status < 200 { return see(.interim(head)) }
    state = framing(read.status, read.fields)
    see(.head(head))
    if case .length(0) = state { end(see) }
  }

  /// RFC 9112 section 6.3.
  private func framing(_ status: Int, _ fields: [HeaderField]) -> State {
    if isHead || status == 204 || status == 304 { return .length(0) }
    if let coding = fields.first("transfer-encoding") {
      return coding.contains("chunked") ? .chunked(ChunkedReader()) : .untilClose
    }
    return fields.first("content-length").flatMap { Int($0) }.map { .length(max($0, 0)) } ?? .untilClose
  }

  /// Field names in small letters, as HTTP/2 wants them.
  private static func parse(_ head: [UInt8]) -> (status: Int, fields: [HeaderField])? {
    let lines = head.dropLast(4).split(separator: 0x0a, omittingEmptySubsequences: false)
    let words = lines[0].split(separator: 0x20)
    guard words.count > 1, words[0].starts(with: "HTTP/1.".utf8),
      let status = Int(String(decoding: words[1].filter { $0 != 0x0d }, as: UTF8.self)),
      (100...999).contains(status)
    else { return nil }
    let scanner = HeadScanner(head)
    var fields: [HeaderField] = []
    for line in lines.dropFirst() {
      guard let field = try? scanner.field(line.last == 0x0d ? line.dropLast() : line) else { return nil }
      fields.append(changed(HeaderField(field, of: head)) { $0.name = $0.name.lowercased() })
    }
    return (status, fields)
  }
}
