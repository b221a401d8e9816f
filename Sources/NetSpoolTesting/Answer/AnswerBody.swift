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
  var count: Int { runs.reduce(0) { $0 + $1.count } }

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

/// The mark of the end of an answer's body (RFC 9112 section 6).
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

/// Bytes to send: part of a block, or the block over and over. All content takes this one form, so that
/// the sender knows one thing and a body of any length holds one block.
struct ByteRun: Sendable {
  let block: [UInt8]
  /// The place in the block where the run begins.
  let start: Int
  /// `Int.max` is endless.
  let count: Int

  init(block: [UInt8], start: Int, count: Int) {
    self.block = block
    self.start = start
    self.count = block.isEmpty ? 0 : count
  }

  init(_ bytes: [UInt8]) { self.init(block: bytes, start: 0, count: bytes.count) }

  init(pattern count: Int, from offset: Int) {
    self.init(block: BodyPattern.block, start: offset % BodyPattern.period, count: count)
  }

  /// `times` nil is endless. A short unit becomes a long block: one system call then sends many of them.
  init(repeating unit: [UInt8], times: Int?) {
    let copies = min(max(16_384 / max(unit.count, 1), 1), times ?? .max)
    let block = copies == 1 ? unit : Array(repeatElement(unit, count: copies).joined())
    self.init(block: block, start: 0, count: times.map { unit.count * $0 } ?? .max)
  }

  /// The part of the block that comes at this offset of the run: as much as lies there in one piece.
  func range(at offset: Int, atMost limit: Int) -> Range<Int> {
    let from = (start + offset) % block.count
    let left = count == .max ? limit : count - offset
    return from..<min(block.count, from + min(left, limit))
  }

  /// The run in two pieces.
  func split(at offset: Int) -> (ByteRun, ByteRun) {
    let rest = count == .max ? .max : count - offset
    return (
      ByteRun(block: block, start: start, count: offset),
      ByteRun(block: block, start: block.isEmpty ? 0 : (start + offset) % block.count, count: rest)
    )
  }
}
