/// Takes a request's body off the wire: all of it is counted and hashed, the beginning is kept.
struct BodyReader {
  private var remaining = 0
  private var chunked: ChunkedReader?
  private(set) var kept: [UInt8] = []
  private(set) var count = 0
  private(set) var hash = FNV1a()

  init(_ framing: RequestFraming) {
    switch framing {
    case .none: break
    case .length(let length): remaining = length
    case .chunked: chunked = ChunkedReader()
    }
  }

  var isDone: Bool { chunked.map(\.isDone) ?? (remaining == 0) }
  var trailers: [HeaderField] { chunked?.trailers ?? [] }

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

  private mutating func keep(_ bytes: ArraySlice<UInt8>, _ limits: OriginLimits) {
    count += bytes.count
    hash.update(bytes)
    kept.append(contentsOf: bytes.prefix(limits.keptBodyBytesMax - kept.count))
  }
}
