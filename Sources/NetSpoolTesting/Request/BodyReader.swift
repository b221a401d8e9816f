/// Takes a request's body off the wire: all of it is counted and hashed, the beginning is kept.
struct BodyReader {
  private var remaining = 0
  private var waitsForEnd = false
  private var chunked: ChunkedReader?
  private(set) var kept: [UInt8] = []
  private(set) var count = 0
  private(set) var hash = FNV1a()

  init(_ framing: RequestFraming) {
    switch framing {
    case .length(let length): remaining = length
    case .chunked: chunked = ChunkedReader()
    case .untilEnd: (remaining, waitsForEnd) = (.max, true)
    }
  }

  var isDone: Bool { chunked.map(\.isDone) ?? (remaining == 0) }
  var trailers: [HeaderField] { chunked?.trailers ?? ownTrailers }
  private var ownTrailers: [HeaderField] = []

  /// Reads what belongs to the body; answers how many bytes that were.
  mutating func read(_ bytes: ArraySlice<UInt8>, limits: OriginLimits) throws(RequestFault) -> Int {
    if var reader = chunked {
      // Taken out and put back: the reader must not be copied while it collects its trailers.
      chunked = nil
      defer { chunked = reader }
      return try reader.read(bytes, limits: limits) { keep($0, limits) }
    }
    let mine = bytes.prefix(remaining)
    remaining -= mine.count
    keep(mine, limits)
    return mine.count
  }

  /// All that belongs to a body without a length has been read.
  mutating func end(trailers: [HeaderField]) {
    guard waitsForEnd else { return }
    remaining = 0
    ownTrailers = trailers
  }

  private mutating func keep(_ bytes: ArraySlice<UInt8>, _ limits: OriginLimits) {
    count += bytes.count
    hash.update(bytes)
    kept.append(contentsOf: bytes.prefix(limits.keptBodyBytesMax - kept.count))
  }
}

/// Reads the chunked transfer coding of a request (RFC 9112 section 7.1), strictly, in pieces of any size.
struct ChunkedReader {
  private enum State {
    case size
    case sizeExtension
    case sizeLineFeed
    case data
    case dataReturn
    case dataLineFeed
    case trailers
    case done
  }

  private static let extensionBytesMax = 4_096

  private var state = State.size
  private var digits = 0
  private var size = 0
  private var extensionBytes = 0
  private var line: [UInt8] = []
  private var trailerBytes = 0
  private(set) var trailers: [HeaderField] = []

  var isDone: Bool { state == .done }

  /// Reads on from `bytes` until they or the body end: how many were used, and which of them are content.
  mutating func read(
    _ bytes: ArraySlice<UInt8>, limits: OriginLimits, content: (ArraySlice<UInt8>) -> Void
  ) throws(RequestFault) -> Int {
    var position = bytes.startIndex
    while position < bytes.endIndex, state != .done {
      if state == .data {
        let end = min(position + size, bytes.endIndex)
        content(bytes[position..<end])
        size -= end - position
        position = end
        if size == 0 { state = .dataReturn }
      } else {
        try see(bytes[position], limits)
        position += 1
      }
    }
    return position - bytes.startIndex
  }

  private mutating func see(_ byte: UInt8, _ limits: OriginLimits) throws(RequestFault) {
    switch state {
    case .size: try seeSize(byte)
    case .sizeExtension: try seeExtension(byte)
    case .sizeLineFeed:
      try expect(byte, 0x0a)
      state = size == 0 ? .trailers : .data
    case .dataReturn:
      try expect(byte, 0x0d)
      state = .dataLineFeed
    case .dataLineFeed:
      try expect(byte, 0x0a)
      (state, digits, size, extensionBytes) = (.size, 0, 0, 0)
    case .trailers: try seeTrailer(byte, limits)
    case .data, .done: break
    }
  }

  private mutating func seeSize(_ byte: UInt8) throws(RequestFault) {
    if let digit = Character(Unicode.Scalar(byte)).hexDigitValue {
      digits += 1
      guard digits <= 15 else { throw RequestFault("a chunk size of more than 15 digits") }
      size = size << 4 | digit
      return
    }
    guard digits > 0 else { throw RequestFault("a chunk without a size") }
    if byte == 0x0d {
      state = .sizeLineFeed
    } else if byte == 0x3b {
      state = .sizeExtension
    } else {
      throw RequestFault("a byte in a chunk size that is not a hex digit")
    }
  }

  private mutating func seeExtension(_ byte: UInt8) throws(RequestFault) {
    extensionBytes += 1
    guard extensionBytes <= Self.extensionBytesMax, byte != 0x0a else {
      throw RequestFault("a chunk extension that is too long or holds a LF")
    }
    if byte == 0x0d { state = .sizeLineFeed }
  }

  private mutating func seeTrailer(_ byte: UInt8, _ limits: OriginLimits) throws(RequestFault) {
    trailerBytes += 1
    guard trailerBytes <= limits.headBytesMax else { throw RequestFault("trailers too large", status: 431) }
    guard byte == 0x0a else { return line.append(byte) }
    guard line.popLast() == 0x0d else { throw RequestFault("a trailer line ends in a bare LF") }
    if line.isEmpty {
      state = .done
      return
    }
    trailers.append(HeaderField(try HeadScanner(line).field(line[...]), of: line))
    line.removeAll(keepingCapacity: true)
  }

  private func expect(_ byte: UInt8, _ wanted: UInt8) throws(RequestFault) {
    guard byte == wanted else { throw RequestFault("a chunk does not end in CR LF") }
  }
}
