/// Turns raw header lines into a `ResponseHead`, and refuses what libcurl lets pass.
///
/// libcurl hands one raw line per call to `CURLOPT_HEADERFUNCTION`: a status line, field lines, a blank
/// line; the same for each informational head before; and trailer fields after the body. It accepts
/// ambiguous framing, bare CR and cut-off heads, so its own reading is not trusted: every line is
/// checked here before a body byte is believed (RFC 9112 sections 2 to 6).
///
/// A value: no I/O, no callbacks, one allocation per head. Feed it by `line(_:)`, or by `consume(_:)`
/// when the bytes do not arrive line by line. After a failure it must be reset.
struct HeaderParser: Sendable {
  enum Event: Sendable {
    /// The line was taken; nothing to tell yet.
    case more
    /// A 1xx head ended; its fields are not kept.
    case informational(Int)
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
  /// Content-Length beside Transfer-Encoding is refused, unless this is set: then the latter counts and
  /// the connection must be closed (RFC 9112 section 6.3). Default false.
  var acceptsLengthWithTransferEncoding = false
  /// The next head comes from a proxy that was sent CONNECT. Falls back to false with its 2xx reply.
  ///
  /// A tunnel that is reused gives no reply, and only libcurl knows: with
  /// `CURLOPT_SUPPRESS_CONNECT_HEADERS` on, leave this false.
  var expectsConnectReply = false
  /// libcurl may send the request again by itself (an authentication round, a 417), so a second head may
  /// follow the first. Otherwise a status line among the trailers is refused. Default false.
  var allowsAnotherHead = false

  /// What the head said about the body's extent; complete when `isHeadComplete`.
  var framing = Framing()
  /// Fields that came after the body.
  var trailers = Headers()

  var phase = Phase.statusLine
  var version = ResponseHead.Version.http11
  var status = 0
  var fields = Headers()
  /// Whether the field before was one of those that decide where the body ends.
  var lastFieldFrames = false
  var sectionBytes = 0
  var sectionLines = 0
  var informationalCount = 0
  /// The beginning of a line whose end has not arrived; used by `consume(_:)` only.
  var pending: [UInt8] = []

  init(limits: HeaderLimits = HeaderLimits()) { self.limits = limits }

  /// A final head has been read to its blank line. False at the end of input means `truncatedHeaders`:
  /// libcurl calls a cut-off head a success.
  var isHeadComplete: Bool { phase == .trailers || phase == .ended }

  /// A status line has come, and nothing after it.
  var expectsFirstField: Bool { phase == .fields && sectionLines == 0 }

  /// Whether anything at all has arrived.
  var hasBegun: Bool { phase != .statusLine || informationalCount > 0 || !pending.isEmpty }

  /// Ready for the next answer; settings are kept, `expectsConnectReply` as it stands.
  mutating func reset() {
    phase = .statusLine
    informationalCount = 0
    pending.removeAll(keepingCapacity: true)
    beginHead()
  }

  /// Takes one whole line with its CR LF or LF.
  ///
  /// Throws `protocolViolation`, `headersTooLarge`, `tooManyInformational`, `ambiguousFraming`, and
  /// `truncatedHeaders` for a line without end.
  mutating func line(_ bytes: RawSpan) throws(NetworkError) -> Event {
    try line(Span<UInt8>(_bytes: bytes))
  }

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

  /// Call when the connection or stream has ended: throws `truncatedHeaders` if the head had not.
  func finish() throws(NetworkError) {
    guard isHeadComplete, pending.isEmpty else {
      throw NetworkError(.truncatedHeaders, sendState: .maybeProcessed)
    }
  }
}

extension HeaderParser {
  /// The length of the line without its end. Every byte is looked at before it is believed, but the end
  /// is looked at first: libcurl cuts at LF, so no other LF may be inside.
  private static func contentEnd(of line: Span<UInt8>) throws(NetworkError) -> Int {
    guard line.count > 0, line[line.count - 1] == 0x0A else {
      throw NetworkError(.truncatedHeaders, reason: "line", sendState: .maybeProcessed)
    }
    let end = line.count - 1
    return end > 0 && line[end - 1] == 0x0D ? end - 1 : end
  }

  /// Adds a line to the section's size.
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
  /// One line with its end; 64 KiB. libcurl holds at most 100 KiB itself and then answers
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

  init() {}
}
