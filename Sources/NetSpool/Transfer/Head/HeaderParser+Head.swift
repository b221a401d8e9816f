/// The status line and the blank line: where a head begins and ends.
extension HeaderParser {
  /// Reads `HTTP/1.1 200 reason` (RFC 9112 section 4). libcurl writes `HTTP/2 200 ` for the newer
  /// versions. No reason and no space before it is common, so it is accepted; nothing else is.
  mutating func statusLine(_ line: Span<UInt8>, _ end: Int) throws(NetworkError) {
    if let byte = line.firstForbidden(in: 0..<end) { throw Self.forbidden(byte) }
    guard Self.startsStatusLine(line, end) else { throw Self.violation("statusLine") }
    var index = 5
    version = try Self.version(line, end, &index)
    status = try Self.status(line, end, index)
    // We never send Upgrade, so nobody may switch protocols on us (RFC 9110 section 15.2.2).
    guard status != 101 else { throw Self.violation("unsolicited101") }
    if keepsFields { fields.reserveCapacity(Self.usualHeadBytes) }
    phase = .fields
  }

  /// Most heads fit in this, so that appending their lines never moves them.
  private static var usualHeadBytes: Int { 480 }

  static func startsStatusLine(_ line: Span<UInt8>, _ end: Int) -> Bool {
    end >= 5 && line[0] == 0x48 && line[1] == 0x54 && line[2] == 0x54 && line[3] == 0x50 && line[4] == 0x2F
  }

  private static func version(
    _ line: Span<UInt8>, _ end: Int, _ index: inout Int
  ) throws(NetworkError) -> ResponseHead.Version {
    guard end >= 7 else { throw violation("version") }
    let major = line[5]
    let minor: UInt8? = line[6] == UInt8(ascii: ".") && end >= 8 ? line[7] : nil
    index += minor == nil ? 1 : 3
    switch (major, minor) {
    case (UInt8(ascii: "1"), UInt8(ascii: "1")): return .http11
    case (UInt8(ascii: "1"), UInt8(ascii: "0")): return .http10
    case (UInt8(ascii: "2"), nil): return .http2
    case (UInt8(ascii: "3"), nil): return .http3
    default: throw violation("version")
    }
  }

  private static func status(_ line: Span<UInt8>, _ end: Int, _ start: Int) throws(NetworkError) -> Int {
    guard end >= start + 4, line[start] == 0x20, end == start + 4 || line[start + 4] == 0x20 else {
      throw violation("status")
    }
    var status = 0
    for index in (start + 1)...(start + 3) {
      guard line[index].isASCIIDigit else { throw violation("status") }
      status = status * 10 + Int(line[index] - 0x30)
    }
    guard (100...599).contains(status) else { throw violation("status") }
    return status
  }

  /// Fields of an informational head and of a proxy's reply to CONNECT are checked, and dropped.
  var keepsFields: Bool { status >= 200 && !expectsConnectReply }

  /// Ends the section that was being read.
  mutating func blankLine() throws(NetworkError) -> Event {
    switch phase {
    case .statusLine: throw Self.violation("statusLine")
    case .ended: throw Self.violation("lineAfterTrailers")
    case .trailers:
      phase = .ended
      return .trailersEnded
    case .fields where status < 200: return try endInformational()
    case .fields where expectsConnectReply: return endConnectReply()
    case .fields: return try endHead()
    }
  }

  private mutating func endInformational() throws(NetworkError) -> Event {
    informationalCount += 1
    guard informationalCount <= limits.informationalMax else {
      throw NetworkError(.tooManyInformational, sendState: .maybeProcessed)
    }
    phase = .statusLine
    beginHead()
    return .informational(status)
  }

  private mutating func endConnectReply() -> Event {
    // A refusal (407) may be followed by another attempt, and so by another reply.
    if status < 300 { expectsConnectReply = false }
    phase = .statusLine
    beginHead()
    return .connectReply(status)
  }

  private mutating func endHead() throws(NetworkError) -> Event {
    try framing.complete(accepting: acceptsLengthWithTransferEncoding)
    let head = ResponseHead(version: version, status: status, headers: fields)
    fields = Headers()
    phase = .trailers
    sectionBytes = 0
    sectionLines = 0
    return .head(head)
  }
}

/// Field lines (RFC 9112 section 5).
extension HeaderParser {
  /// Checks and keeps one field line of the head or of the trailer section.
  mutating func fieldLine(_ line: Span<UInt8>, _ end: Int) throws(NetworkError) {
    sectionLines += 1
    guard sectionLines <= limits.linesMax else {
      throw Self.tooLarge(phase == .trailers ? "trailers" : "count")
    }
    if line[0].isBlank { return try foldedLine(line, end) }
    let colon = try Self.nameEnd(line, end)
    if let byte = line.firstForbidden(in: (colon + 1)..<end) { throw Self.forbidden(byte) }
    let value = line.trimmed((colon + 1)..<end)
    if phase == .trailers {
      trailers.append(line, colon: colon, value: value)
    } else if keepsFields {
      lastFieldFrames = try framing.note(line, name: 0..<colon, value: value)
      fields.append(line, colon: colon, value: value)
    }
  }

  /// The colon's position. A space before it has smuggled requests past proxies, so it is never
  /// trimmed away (RFC 9112 section 5.1).
  @inline(__always)
  private static func nameEnd(_ line: Span<UInt8>, _ end: Int) throws(NetworkError) -> Int {
    var index = 0
    while index < end, line[index].isTokenByte { index += 1 }
    guard index > 0, index < end, line[index] == 0x3A else { throw badName(line, end, index) }
    return index
  }

  /// Says what is wrong with the line whose name ended at `index`.
  private static func badName(_ line: Span<UInt8>, _ end: Int, _ index: Int) -> NetworkError {
    if let byte = line.firstForbidden(in: 0..<end) { return forbidden(byte) }
    guard index < end, let colon = line.firstIndex(of: 0x3A, from: index), colon < end else {
      return violation("noColon")
    }
    return violation(index > 0 && line[index].isBlank ? "spaceBeforeColon" : "fieldName")
  }

  /// A line that goes on with the field before it (`obs-fold`, RFC 9112 section 5.2): the fold becomes
  /// one space.
  private mutating func foldedLine(_ line: Span<UInt8>, _ end: Int) throws(NetworkError) {
    if let byte = line.firstForbidden(in: 0..<end) { throw Self.forbidden(byte) }
    guard sectionLines > 1 else { throw Self.violation("foldWithoutField") }
    // libcurl has read the unfolded line alone: the two readings of where the body ends would differ.
    guard phase == .trailers || !lastFieldFrames else { throw Framing.ambiguous("folded") }
    let rest = line.trimmed(0..<end)
    if phase == .trailers {
      trailers.extendLast(line, rest)
    } else if keepsFields {
      fields.extendLast(line, rest)
    }
  }

  static func forbidden(_ byte: UInt8) -> NetworkError {
    switch byte {
    case 0: violation("nul")
    case 0x0D: violation("bareCR")
    default: violation("bareLF")
    }
  }
}

/// Bytes that do not arrive line by line.
extension HeaderParser {
  /// Takes bytes up to and including the next LF and drops them from `bytes`. Call it until `bytes` is
  /// empty, or until `.head`: what is left then belongs to the body.
  ///
  /// The beginning of a line that has no end yet is kept, up to `limits.lineBytesMax`. Throws as
  /// `line(_:)` does.
  mutating func consume(_ bytes: inout ArraySlice<UInt8>) throws(NetworkError) -> Event {
    guard let newline = bytes.span.firstIndex(of: 0x0A) else {
      try keep(bytes)
      bytes = []
      return .more
    }
    let first = bytes.prefix(newline + 1)
    bytes = bytes.dropFirst(newline + 1)
    if pending.isEmpty { return try line(first.span) }
    try keep(first)
    let whole = pending
    pending.removeAll(keepingCapacity: true)
    return try line(whole.span)
  }

  private mutating func keep(_ bytes: ArraySlice<UInt8>) throws(NetworkError) {
    guard pending.count + bytes.count <= limits.lineBytesMax else { throw Self.tooLarge("line") }
    pending.append(contentsOf: bytes)
  }
}
