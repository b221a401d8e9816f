/// Turns raw header lines into a `ResponseHead`, and refuses what libcurl lets pass.
///
/// libcurl hands one raw line per call to `CURLOPT_HEADERFUNCTION`: a status line, field lines, a blank
/// line; the same for each informational head before; and trailer fields after the body. It accepts
/// ambiguous framing, bare CR and cut-off heads, so its own reading is not trusted: every line is
/// checked here before a body byte is believed (RFC 9112 sections 2 to 6).
///
/// A value: no I/O, no callbacks, one allocation per head. After a failure it must be reset.
struct HeaderParser: Sendable {
  enum Event: Sendable {
    /// The line was taken; nothing to tell yet.
    case more
    /// A 1xx head ended.
    case informational(ResponseHead)
    /// A proxy answered CONNECT; its fields are not kept.
    case connectReply(Int)
    /// The blank line that ends a final head was read.
    case head(ResponseHead)
    /// The blank line that ends the trailer section was read. libcurl 7.88 does not hand that line
    /// over, so `trailers` must also be looked at when the transfer ends.
    case trailersEnded
  }

  /// What the next line belongs to.
  enum Phase: Sendable { case statusLine, fields, trailers, ended }

  var limits: HeaderLimits
  /// The next head comes from a proxy that was sent CONNECT (`Tunnel`). Falls back to false with its 2xx reply.
  var expectsConnectReply = false
  /// libcurl may send the request again by itself (an authentication round, a 417), so a second head may
  /// follow the first. Otherwise a status line among the trailers is refused. Default false.
  var allowsAnotherHead = false

  /// What the head said about the body's extent; complete at the end of the head.
  var framing = Framing()
  /// Fields that came after the body.
  var trailers = Headers()

  var phase = Phase.statusLine
  var version = ResponseHead.Version.http11
  var status = 0
  var fields = Headers()
  /// True if the field before was one of those that decide where the body ends.
  var lastFieldFrames = false
  var sectionBytes = 0
  var sectionLines = 0
  var informationalCount = 0

  init(limits: HeaderLimits = HeaderLimits()) { self.limits = limits }

  /// A status line has come, and nothing after it.
  var expectsFirstField: Bool { phase == .fields && sectionLines == 0 }

  /// True if anything at all has arrived.
  var hasBegun: Bool { phase != .statusLine || informationalCount > 0 }

  /// Ready for the next answer; settings are kept, `expectsConnectReply` as it stands.
  mutating func reset() {
    phase = .statusLine
    informationalCount = 0
    beginHead()
  }

  /// Takes one whole line with its CR LF or LF.
  ///
  /// Throws `protocolViolation`, `headersTooLarge`, `tooManyInformational`, `ambiguousFraming`, and
  /// `truncatedHeaders` for a line without end.
  mutating func line(_ bytes: RawSpan) throws(NetworkError) -> Event { try line(Span<UInt8>(_bytes: bytes)) }

  /// The same for bytes that are typed.
  mutating func line(_ line: Span<UInt8>) throws(NetworkError) -> Event {
    let end = try Self.contentEnd(of: line)
    if phase == .trailers, allowsAnotherHead, Self.startsStatusLine(line, end) { reset() }
    try account(line.count)
    if end == 0 { return try blankLine() }
    switch phase {
    case .statusLine: try statusLine(line, end)
    case .fields, .trailers: try fieldLine(line, end)
    case .ended: throw Self.violation("lineAfterTrailers")
    }
    return .more
  }

  /// The length of the line without its end. Every byte is looked at before it is believed, but the end
  /// is looked at first: libcurl cuts at LF, so no other LF may be inside.
  @inline(__always)
  private static func contentEnd(of line: Span<UInt8>) throws(NetworkError) -> Int {
    guard line.count > 0, line[line.count - 1] == 0x0A else {
      throw NetworkError(.truncatedHeaders, reason: "line", sendState: .maybeProcessed)
    }
    let end = line.count - 1
    return end > 0 && line[end - 1] == 0x0D ? end - 1 : end
  }

  /// Adds a line to the section's size.
  @inline(__always)
  private mutating func account(_ byteCount: Int) throws(NetworkError) {
    guard byteCount <= limits.lineBytesMax else { throw Self.tooLarge("line") }
    sectionBytes += byteCount
    if phase == .trailers {
      guard sectionBytes <= limits.trailerBytesMax else { throw Self.tooLarge("trailers") }
    } else {
      guard sectionBytes <= limits.totalBytesMax else { throw Self.tooLarge("total") }
    }
  }

  /// Forgets the head that was being read.
  mutating func beginHead() {
    sectionBytes = 0
    sectionLines = 0
    lastFieldFrames = false
    framing = Framing()
    fields = Headers()
    trailers = Headers()
  }

  static func violation(_ reason: String) -> NetworkError {
    NetworkError(.protocolViolation, reason: reason, sendState: .maybeProcessed)
  }

  static func tooLarge(_ reason: String) -> NetworkError {
    NetworkError(.headersTooLarge, reason: reason, sendState: .maybeProcessed)
  }
}

/// How much a header section may hold before the answer is refused as `headersTooLarge`.
///
/// Without limits an origin decides how much memory its answer costs. Each block (a final head, one
/// informational head, the reply to CONNECT) is measured on its own.
struct HeaderLimits: Sendable, Hashable {
  /// A line with its end; 64 KiB. libcurl holds at most 100 KiB itself and then answers
  /// `CURLE_OUT_OF_MEMORY`, so this one is lower.
  var lineBytesMax = 64 * 1024
  /// All lines of one block; 128 KiB.
  var totalBytesMax = 128 * 1024
  /// Field lines of one block, and of the trailer section; 256.
  var linesMax = 256
  /// The trailer section; 64 KiB.
  var trailerBytesMax = 64 * 1024
  /// Informational (1xx) heads before the final one; 32.
  var informationalMax = 32
}

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
    if keepsFields, status >= 200 { fields.reserveCapacity(Self.usualHeadBytes) }
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
    // Beyond 599 there is no class; such an answer counts as one of 5xx (RFC 9110 section 15).
    guard status >= 100 else { throw violation("status") }
    return status
  }

  /// Fields of a proxy's reply to CONNECT are checked, and dropped.
  var keepsFields: Bool { !expectsConnectReply }

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
    let head = ResponseHead(version: version, status: status, headers: fields)
    phase = .statusLine
    beginHead()
    return .informational(head)
  }

  private mutating func endConnectReply() -> Event {
    // A refusal (407) may be followed by another attempt, and so by another reply.
    if status < 300 { expectsConnectReply = false }
    phase = .statusLine
    beginHead()
    return .connectReply(status)
  }

  private mutating func endHead() throws(NetworkError) -> Event {
    try framing.complete()
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
      // No body follows an informational head, so none of its fields says where one ends.
      if status >= 200 { lastFieldFrames = try framing.note(line, name: 0..<colon, value: value) }
      fields.append(line, colon: colon, value: value)
    }
  }

  /// The colon's position. A space before it has smuggled requests past proxies, so it is never
  /// trimmed away (RFC 9112 section 5.1).
  @inline(__always)
  private static func nameEnd(_ line: Span<UInt8>, _ end: Int) throws(NetworkError) -> Int {
    let index = line.tokenEnd(before: end)
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
