/// Takes a chunked body apart (RFC 9112 section 7.1): data, trailer lines, and what comes behind the end.
///
/// libcurl reads the chunks as well, to know where the answer ends, but it takes extensions of any length, says nothing
/// of bytes behind the last chunk, and is busy with an endless extension for as long as it comes. So it hands the bytes
/// over as they came (CURLOPT_HTTP_TRANSFER_DECODING), and what they are is decided here.
///
/// A value: no I/O. After a failure it is not to be used again.
struct ChunkedBody: Sendable {
  /// The longest extension of one chunk, in bytes. No reader needs them; RFC 9112 section 7.1.1 asks for a limit.
  static let extensionBytesMax = 4_096
  /// As many as libcurl takes: the size then fits into 64 bits with its sign.
  static let sizeDigitsMax = 16
  /// The longest trailer line, with its end.
  static let trailerLineBytesMax = 64 << 10

  enum Piece: Equatable {
    /// Bytes of the body, by their places in what was given.
    case data(Range<Int>)
    /// A line behind the last chunk, with its end; the blank one comes last.
    case trailer([UInt8])
    /// The body has ended, and this many bytes came behind it.
    case surplus(Int)
  }

  private enum State: Sendable {
    case size, `extension`, data, dataEnd, trailer, ended
  }

  private var state = State.size
  /// Of the size that is being read, then of the data still to come.
  private var left: Int64 = 0
  private var digits = 0
  private var extensionBytes = 0
  private var line: [UInt8] = []

  /// The blank line behind the last chunk has come.
  var isEnded: Bool { state == .ended }

  /// The next piece of what was given, from a place on, which moves behind it. Nil: all of it was read.
  mutating func next(_ bytes: Span<UInt8>, from place: inout Int) throws(NetworkError) -> Piece? {
    while place < bytes.count {
      switch state {
      case .size: try readSize(bytes[place])
      case .extension: try skip(bytes[place])
      case .data: return takeData(bytes.count, &place)
      case .dataEnd: try endData(bytes[place])
      case .trailer:
        if let line = try takeLine(bytes, &place) { return .trailer(line) }
        continue
      case .ended:
        defer { place = bytes.count }
        return .surplus(bytes.count - place)
      }
      place += 1
    }
    return nil
  }

  private mutating func readSize(_ byte: UInt8) throws(NetworkError) {
    guard let digit = Hexadecimal.value(byte) else {
      let ends: [UInt8] = [0x0D, 0x0A, 0x3B, 0x20, 0x09]
      guard digits > 0, ends.contains(byte) else { throw Self.bad("illegal hexadecimal size") }
      state = .extension
      return try skip(byte)
    }
    digits += 1
    guard digits <= Self.sizeDigitsMax, left < 1 << 59 else { throw Self.bad("too long size") }
    left = left << 4 | Int64(digit)
  }

  /// What stands between the size and its line's end.
  private mutating func skip(_ byte: UInt8) throws(NetworkError) {
    guard byte != 0x0A else { return state = left > 0 ? .data : .trailer }
    extensionBytes += 1
    guard extensionBytes <= Self.extensionBytesMax else { throw Self.bad("extension") }
  }

  private mutating func takeData(_ count: Int, _ place: inout Int) -> Piece {
    let end = place + Int(min(left, Int64(count - place)))
    defer { place = end }
    left -= Int64(end - place)
    if left == 0 { state = .dataEnd }
    return .data(place..<end)
  }

  private mutating func endData(_ byte: UInt8) throws(NetworkError) {
    switch byte {
    case 0x0D: return
    case 0x0A: (state, digits, extensionBytes) = (.size, 0, 0)
    default: throw Self.bad("no line end behind the chunk")
    }
  }

  /// A whole line, which may have begun in what was given before.
  private mutating func takeLine(_ bytes: Span<UInt8>, _ place: inout Int) throws(NetworkError) -> [UInt8]? {
    while place < bytes.count {
      guard line.count < Self.trailerLineBytesMax else { throw HeaderParser.tooLarge("trailers") }
      let byte = bytes[place]
      line.append(byte)
      place += 1
      guard byte == 0x0A else { continue }
      if line.count == 1 || line == [0x0D, 0x0A] { state = .ended }
      defer { line = [] }
      return line
    }
    return nil
  }

  private static func bad(_ reason: String) -> NetworkError {
    NetworkError(.badChunk, reason: reason, sendState: .answered)
  }
}
