internal import CNetSpoolShims

/// What libcurl's callbacks tell: head lines and body bytes.
extension Transfer {
  /// False ends the transfer.
  func received(header line: RawSpan) -> Bool {
    multi.didProgress()
    do throws(NetworkError) {
      if exchange.isTunnelling {
        try exchange.tunnel.line(line)
        return true
      }
      switch try parser.line(line) {
      case .head(let head):
        if exchange.plan.hasRounds, isAuthenticationRound(head) {
          exchange.roundHead = head
          exchange.leftAt = MonotonicClock.now
        } else {
          try received(head: head)
        }
      case .informational(let head): onInformational(self, head)
      case .more, .connectReply, .trailersEnded: break
      }
      return true
    } catch {
      exchange.machine.handle(.fail(error))
      return false
    }
  }

  func received(head: ResponseHead) throws(NetworkError) {
    if let answered = exchange.head { throw Self.endless(answered) }
    exchange.head = head
    handle.expectHead(false)
    Failpoint.pass(.afterResponseHead)
    try refuseTransferCodings(head)
    try refuseFalseVersion(head)
    // A 204 that announces a body may well send one (RFC 9110 section 8.6), and libcurl looks no further.
    let announces = parser.framing.hasTransferEncoding || (parser.framing.contentLength ?? 0) > 0
    if head.status == 204 && announces { handle.setEndsConnection(true) }
    let use: BodyUse
    (use, exchange.next) = onHead(self, head)
    if case .again = exchange.next, let failure = exchange.machine.failure { throw failure }
    let limits = exchange.plan.limits
    var limit = use.streams ? limits.bodyBytesStreamedMax : Int64(limits.bodyBytesInMemoryMax)
    if exchange.leavesBody(use) {
      exchange.leftAt = MonotonicClock.now
      limit = min(limit, Self.leftBytesMax)
    }
    exchange.machine.handle(.head(use, bytesMax: limit))
    guard hasBody(head) else {
      askForExcess(head)
      return openSinks(use, head, 0)
    }
    if parser.framing.isChunked { beginChunks(head) }
    if let expected = parser.framing.contentLength, expected > limit, use != .discard {
      throw NetworkError(
        .bodyTooLarge, reason: "\(expected) bytes announced, \(limit) allowed", sendState: .answered)
    }
    if use != .discard, exchange.plan.decodes, head.status != 206, parser.framing.hasContentEncoding {
      exchange.decoder = try ContentDecoder.make(for: head.headers, limits: limits.decoding)
    }
    exchange.bytesExpected = exchange.decoder == nil ? parser.framing.contentLength : nil
    if use == .both, parser.framing.contentLength ?? 0 > Int64(limits.bodyBytesInMemoryMax) {
      stopCollecting()
    } else if use.collects {
      exchange.collected.reserve(announced: exchange.bytesExpected)
    }
    openSinks(use, head, exchange.bytesExpected)
  }

  /// So much is read of a body that leads nowhere, so that its connection serves the next exchange as well; 64 KiB.
  static let leftBytesMax: Int64 = 64 << 10

  /// libcurl drops what comes behind such an answer in the same read, and keeps the connection.
  private func askForExcess(_ head: ResponseHead) {
    guard head.version == .http11 || head.version == .http10 else { return }
    listen()
  }

  /// What calls itself HTTP/1.0 cannot have meant chunks, or was changed on the way (RFC 9112 section 6.1).
  private func beginChunks(_ head: ResponseHead) {
    guard head.version == .http11 || head.version == .http10 else { return }
    exchange.chunks = ChunkedBody()
    if head.version == .http10 { handle.setEndsConnection(true) }
  }

  /// Only TLS agrees on HTTP/2, or the caller knows; a status line cannot, and libcurl believes it.
  private func refuseFalseVersion(_ head: ResponseHead) throws(NetworkError) {
    guard head.version == .http2, !isSecure, !knowsHTTP2 else { return }
    throw NetworkError(.protocolViolation, reason: "version", sendState: .answered)
  }

  /// We never ask for a transfer coding (RFC 9110 section 10.1.4), and libcurl would undo gzip here without
  /// our limits and without proof of its end.
  private func refuseTransferCodings(_ head: ResponseHead) throws(NetworkError) {
    guard parser.framing.hasTransferEncoding else { return }
    let codings = head.headers.allBytes("Transfer-Encoding").flatMap { FieldNames.parse($0) ?? ["?"] }
    guard codings.allSatisfy({ $0 == "chunked" || $0 == "identity" }) else {
      throw NetworkError(.ambiguousFraming, reason: "transferEncoding", sendState: .answered)
    }
  }

  /// The length of the body behind this head; nil when it is not told.
  func announcedBody(_ head: ResponseHead) -> Int64? { hasBody(head) ? parser.framing.contentLength : 0 }

  private func hasBody(_ head: ResponseHead) -> Bool {
    exchange.plan.method != .head && head.status != 204 && head.status != 304
  }

  private func openSinks(_ use: BodyUse, _ head: ResponseHead, _ expected: Int64?) {
    guard use.streams else { return }
    exchange.hasStreamed = true
    exchange.isLive = isLive(head)
    exchange.fanout?.open(head, bytesExpected: expected)
  }

  /// The body comes as it is made: events, or what is read as it comes and has no length.
  func isLive(_ head: ResponseHead) -> Bool {
    if parser.framing.contentLength == nil, exchange.fanout?.isFollowed == true { return true }
    return head.headers.first("Content-Type").flatMap { MediaType($0) }?.isEventStream ?? false
  }

  func received(body bytes: RawSpan) -> Intake {
    multi.didProgress()
    if exchange.head == nil { return glance() }
    if let hindrance { return wait(for: hindrance) }
    isReading = true
    defer { isReading = false }
    let heldBefore = min(exchange.bytesHeld, bytes.byteCount)
    exchange.bytesHeld -= heldBefore
    guard exchange.bytesHeld == 0 else { return .taken }
    var intake = heldBefore == 0 ? .taken : decode(bytes.extracting(first: 0))
    if intake == .taken, heldBefore < bytes.byteCount {
      let rest = bytes.extracting(heldBefore...)
      intake = exchange.chunks == nil ? use(rest) : unchunk(rest)
    }
    guard intake == .taken, exchange.decoder?.isHeldUp == true else { return intake }
    exchange.bytesHeld = bytes.byteCount
    return wait(for: hindrance ?? .turn)
  }

  /// Nil: more of the body can be taken now.
  private var hindrance: Exchange.Pauses? {
    if isPausedByUser { return .user }
    if multi.isCallLong { return .turn }
    return exchange.fanout?.isCongested == true ? .reader : nil
  }

  private func wait(for hindrance: Exchange.Pauses) -> Intake {
    if hindrance == .turn, !exchange.pauses.contains(.turn) { multi.postpone(self) }
    pause(hindrance)
    if hindrance == .reader { onStall() }
    return .pause
  }

  private func use(_ bytes: RawSpan) -> Intake { exchange.decoder == nil ? take(bytes) : decode(bytes) }

  private func unchunk(_ bytes: RawSpan) -> Intake {
    let typed = Span<UInt8>(_bytes: bytes)
    var place = 0
    var small: [UInt8] = []
    do throws(NetworkError) {
      while let piece = try exchange.chunks?.next(typed, from: &place) {
        switch piece {
        case .data(let range) where range.count < Self.smallChunkMax: small.append(bytes.extracting(range))
        case .data(let range):
          guard hand(on: &small) == .taken, use(bytes.extracting(range)) == .taken else { return .abort }
        case .trailer(let line): _ = try parser.line(line.rawBytes)
        case .surplus: handle.setEndsConnection(true)
        }
      }
      return hand(on: &small)
    } catch {
      _ = hand(on: &small)
      exchange.machine.handle(.fail(error))
      return .abort
    }
  }

  /// Chunks that came together and are smaller are handed on together: a byte costs a stream as much as a thousand.
  private static let smallChunkMax = 1_024

  private func hand(on small: inout [UInt8]) -> Intake {
    guard !small.isEmpty else { return .taken }
    defer { small = [] }
    return use(small.rawBytes)
  }

  /// A body of an authentication round, which no operation wants; or a line of a head that begins with a blank, which libcurl
  /// and the parser are given next (`cnetspool_receive`).
  private func glance() -> Intake {
    guard !exchange.plan.hasRounds, parser.expectsFirstField else { return .taken }
    exchange.machine.handle(.fail(HeaderParser.violation("foldWithoutField")))
    return .abort
  }

  private func decode(_ bytes: RawSpan) -> Intake {
    var intake = Intake.taken
    do {
      try exchange.decoder?.decode(bytes) { piece in
        intake = take(piece)
        if intake == .abort { throw Stop() }
        return hindrance == nil
      }
      return intake
    } catch let failure as NetworkError {
      exchange.machine.handle(.fail(failure))
    } catch {}  // ours: the reason is noted already
    return .abort
  }

  private struct Stop: Error {}

  private func take(_ bytes: RawSpan) -> Intake {
    switch exchange.machine.handle(.bytes(bytes.byteCount)) {
    case .proceed, .stop: return .abort
    case .use(let use):
      if use.collects { collect(bytes, besideStreams: use.streams) }
      if use.streams { exchange.fanout?.write(bytes) }
      return exchange.machine.failure == nil ? .taken : .abort
    }
  }

  private func collect(_ bytes: RawSpan, besideStreams: Bool) {
    let most = exchange.plan.limits.bodyBytesInMemoryMax
    if besideStreams, exchange.collected.count + bytes.byteCount > most { return stopCollecting() }
    exchange.collected.append(bytes)
  }

  /// The body is too long for the operations that want it in memory, and goes on for the others' streams.
  private func stopCollecting() {
    exchange.machine.handle(.narrow)
    exchange.collected = []
    onTooLong(self)
  }
}

/// What libcurl's code means, once everything that we saw ourselves is put beside it.
extension Transfer {
  /// Nil: a whole answer. libcurl calls cut-off heads and cut-off compressed bodies a success; they are not.
  func verdict(code: Int32) -> NetworkError? {
    if let failure = exchange.machine.failure { return sent(failure) }
    if code == 0 { return incomplete() }
    let info = handle.info()
    return FailureMapping.failure(
      FailureMapping.Evidence(
        code: code, message: handle.message,
        errno: exchange.socketErrno != 0 ? exchange.socketErrno : Int32(info.os_errno),
        socketRefused: exchange.socketErrno != 0,
        isConnected: handle.isConnected || exchange.bytesSent > 0 || exchange.head != nil,
        isReused: info.new_connections == 0, hasHeadBegun: parser.hasBegun, hasHead: exchange.head != nil,
        resendRefused: exchange.sends > 1, verifyResult: handle.verifyResult, usesProxy: usesProxy,
        speaksHTTP2: exchange.speaksHTTP2,
        bytes: exchange.machine.bodyBytes, bytesExpected: exchange.bytesExpected))
  }

  private func incomplete() -> NetworkError? {
    guard let head = exchange.head else { return NetworkError(.truncatedHeaders, sendState: .maybeProcessed) }
    if let chunks = exchange.chunks, !chunks.isEnded {
      return NetworkError(.bodyTruncated, sendState: .answered)
    }
    do throws(NetworkError) {
      try exchange.decoder?.finish()
      return head.status == 206 ? otherPart(head) : nil
    } catch { return sent(error) }
  }

  /// A part that is not as long as it says that it is.
  private func otherPart(_ head: ResponseHead) -> NetworkError? {
    guard hasBody(head), exchange.decoder == nil, let range = head.headers.contentRange?.range,
      bodyBytes != Int64(range.count)
    else { return nil }
    return NetworkError(
      bodyBytes < range.count ? .bodyTruncated : .protocolViolation,
      reason: "its length is not that of its Content-Range", sendState: .answered)
  }

  func sent(_ failure: NetworkError) -> NetworkError {
    guard failure.sendState == .notSent else { return failure }
    var failure = failure
    failure.sendState = sendState
    return failure
  }

  /// How far it has come.
  var sendState: NetworkError.SendState {
    if exchange.head != nil { return .answered }
    return exchange.wasAdded && handle.isConnected ? .maybeProcessed : .notSent
  }

  /// True if the end of the body can be told from the middle of it, known at the head.
  ///
  /// libcurl takes what had come for the whole where a stream of HTTP/2 is reset without an error, and 7.88 also where
  /// nghttp2 gives the connection up for what its peer sends: only a coding that has an end of its own tells.
  var showsItsEnd: Bool {
    switch bodyFraming {
    case .none, .length, .chunked: true
    case .stream:
      exchange.plan.decodes && exchange.head.map { !ContentDecoder.layers(in: $0.headers).isEmpty } == true
    case .untilClose: false
    }
  }

  /// What is known of the end of a body that ended without a failure.
  var completeness: NetworkResponse.Completeness {
    switch bodyFraming {
    case .none, .length, .chunked: .whole
    case .stream: exchange.decoder?.bytesReceived ?? 0 > 0 ? .whole : .closeDelimited
    case .untilClose: .closeDelimited
    }
  }

  private var bodyFraming: BodyFraming {
    guard let head = exchange.head else { return .untilClose }
    return parser.framing.body(status: head.status, version: head.version, method: exchange.plan.method)
  }

  /// The trailer fields, known at the end.
  var trailers: Headers { parser.trailers }

  func metrics() -> NetworkResponse.Metrics {
    var metrics = NetworkResponse.Metrics()
    guard exchange.wasAdded else { return metrics }
    let info = handle.info()
    metrics.nameLookupTime = info.name_lookup
    metrics.connectTime = max(0, info.connect - info.name_lookup)
    metrics.tlsHandshakeTime = max(0, info.app_connect - info.connect)
    metrics.firstByteTime = info.first_byte
    metrics.totalTime = info.total
    metrics.bytesReceived = info.bytes_received
    metrics.bytesSent = info.bytes_sent
    metrics.connectionReused = info.new_connections == 0
    return metrics
  }
}

/// Says what becomes of a body, decided once its head is known.
struct BodyUse: Sendable, Equatable {
  /// Kept in memory for the response.
  var collects: Bool
  /// Written to the sinks.
  var streams: Bool

  /// Read and dropped: a redirect's, or one that will be asked for again.
  static let discard = BodyUse(collects: false, streams: false)
  static let collect = BodyUse(collects: true, streams: false)
  static let stream = BodyUse(collects: false, streams: true)
  static let both = BodyUse(collects: true, streams: true)
}
