/// What a head says about the extent and coding of its body, noted while the lines go by so that the
/// transfer needs no lookups (RFC 9112 section 6).
struct Framing: Sendable, Hashable {
  /// `Content-Length`, at most 18 digits.
  private(set) var contentLength: Int64?
  private(set) var hasTransferEncoding = false
  /// `chunked` is the last transfer coding.
  private(set) var isChunked = false
  /// There is a content coding other than `identity`.
  private(set) var hasContentEncoding = false

  /// Looks at one field. Answers true if it decides where the body ends; throws `ambiguousFraming`.
  @inline(__always)
  mutating func note(_ line: Span<UInt8>, name: Range<Int>, value: Range<Int>) throws(NetworkError) -> Bool {
    // Most fields are told apart by length and first letter alone.
    switch (name.count, line[name.lowerBound] | 0x20) {
    case (14, UInt8(ascii: "c")), (17, UInt8(ascii: "t")), (16, UInt8(ascii: "c")):
      try noteCandidate(line, name: name, value: value)
    default: false
    }
  }

  private mutating func noteCandidate(
    _ line: Span<UInt8>, name: Range<Int>, value: Range<Int>
  ) throws(NetworkError) -> Bool {
    if line.equals("content-length", in: name) {
      try noteLength(line, value)
      return true
    }
    if line.equals("transfer-encoding", in: name) {
      try noteTransferEncoding(line, value)
      return true
    }
    if line.equals("content-encoding", in: name) {
      hasContentEncoding = hasContentEncoding || !(value.isEmpty || line.equals("identity", in: value))
    }
    return false
  }

  /// Takes one number, or a list of the same number (RFC 9112 section 6.3 item 5). Repeats that agree are
  /// harmless and seen behind proxies; anything else lets two readers cut the stream differently.
  private mutating func noteLength(_ line: Span<UInt8>, _ value: Range<Int>) throws(NetworkError) {
    var list = ListElements(value)
    while let element = list.next(line) {
      guard let length = line.decimal(in: element) else { throw Self.ambiguous("lengthDigits") }
      guard contentLength == nil || contentLength == length else { throw Self.ambiguous("lengthsDiffer") }
      contentLength = length
    }
  }

  /// `chunked` must stand last and once (RFC 9112 section 6.1), else no reader knows where the body ends.
  private mutating func noteTransferEncoding(_ line: Span<UInt8>, _ value: Range<Int>) throws(NetworkError) {
    hasTransferEncoding = true
    var list = ListElements(value)
    while let element = list.next(line) {
      guard !isChunked else { throw Self.ambiguous("chunkedNotLast") }
      guard !element.isEmpty else { throw Self.ambiguous("transferEncoding") }
      isChunked = line.equals("chunked", in: element)
    }
  }

  /// Draws the conclusions at the end of the head: a length beside a transfer coding is refused (RFC 9112 section 6.3).
  func complete() throws(NetworkError) {
    if hasTransferEncoding, contentLength != nil { throw Self.ambiguous("lengthWithTransferEncoding") }
  }

  static func ambiguous(_ reason: String) -> NetworkError {
    NetworkError(.ambiguousFraming, reason: reason, sendState: .maybeProcessed)
  }
}

/// The elements of a comma-separated list, blanks around them dropped, empty ones kept.
private struct ListElements {
  private var position: Int
  private let end: Int
  private var isDone = false

  init(_ range: Range<Int>) {
    position = range.lowerBound
    end = range.upperBound
  }

  mutating func next(_ line: Span<UInt8>) -> Range<Int>? {
    guard !isDone else { return nil }
    var stop = position
    while stop < end, line[stop] != UInt8(ascii: ",") { stop += 1 }
    defer {
      isDone = stop >= end
      position = stop + 1
    }
    return line.trimmed(position..<stop)
  }
}

/// How the end of a body is known.
enum BodyFraming: Sendable, Hashable {
  /// There is no body, whatever the fields say.
  case none
  /// This many bytes.
  case length(Int64)
  /// Ended by the last chunk.
  case chunked
  /// Ended by the stream's own end mark (HTTP/2 and later), which libcurl does not tell from a reset without an error.
  case stream
  /// Ended by the connection: a cut-off body looks like a whole one, so it is never cached nor resumed.
  case untilClose
}

extension Framing {
  /// The rules of RFC 9112 section 6.3, in their order.
  func body(status: Int, version: ResponseHead.Version, method: Method) -> BodyFraming {
    if method == .head || status < 200 || status == 204 || status == 304 { return .none }
    if isChunked { return .chunked }
    if version == .http2 || version == .http3 { return contentLength.map(BodyFraming.length) ?? .stream }
    if hasTransferEncoding { return .untilClose }
    return contentLength.map(BodyFraming.length) ?? .untilClose
  }
}
