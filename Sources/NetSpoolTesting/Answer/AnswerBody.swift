/// The body of an ``Answer``.
public enum AnswerBody: Sendable {
  /// No body. `Content-Length: 0` where a body could stand.
  case none
  /// These bytes.
  case bytes([UInt8])
  /// `count` bytes of ``BodyPattern`` from `offset` on, made while they are sent: a body of 1 GiB costs no memory.
  case pattern(count: Int, from: Int = 0)
  /// These bytes again and again, made while they are sent.
  case repeating([UInt8], times: Int)
  /// Chunks of the chunked transfer coding, one for each element; empty ones are left out.
  case chunks([[UInt8]])

  /// This text in UTF-8.
  public static func text(_ text: String) -> AnswerBody { .bytes(Array(text.utf8)) }

  /// Bytes of content, before any transfer coding.
  var count: Int {
    switch self {
    case .none: 0
    case .bytes(let bytes): bytes.count
    case .pattern(let count, _): count
    case .repeating(let unit, let times): unit.count * times
    case .chunks(let chunks): chunks.reduce(0) { $0 + $1.count }
    }
  }

  /// The content as it is sent without a transfer coding.
  var runs: [ByteRun] {
    switch self {
    case .none: []
    case .bytes(let bytes): [ByteRun(bytes)]
    case .pattern(let count, let offset): [ByteRun(pattern: count, from: offset)]
    case .repeating(let unit, let times): [ByteRun(repeating: unit, times: times)]
    case .chunks(let chunks): chunks.map { ByteRun($0) }
    }
  }
}

/// How the end of an answer's body is marked (RFC 9112 section 6).
public enum AnswerFraming: Sendable, Equatable {
  /// `Transfer-Encoding: chunked` for a body of chunks, `Content-Length` for every other.
  case automatic
  /// `Content-Length`.
  case contentLength
  /// `Transfer-Encoding: chunked`, in chunks of this many bytes (the last may be shorter).
  case chunked(size: Int = 65_536)
  /// Neither: the end of the connection is the end of the body.
  case untilClose
}
