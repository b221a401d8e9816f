internal import CNetSpoolCurl
internal import CNetSpoolShims

/// The answers to faults of some versions of libcurl, each with the first version that needs it no more: when no version
/// that we run with needs it, it goes, with all that asks for it. Without `endsWith` it was seen in the newest as well. Seen are
/// 7.88.1 (Debian 12) and 8.14.1 (Debian 13); libuv 1.44.2 and 1.50.0, LMDB 0.9.24 and 0.9.31 differ in nothing that we use.
///
/// Elsewhere, so that a user sees the same with every version:
///
/// | what | 7.88.1 | 8.14.1 | levelled in |
/// |---|---|---|---|
/// | CURL_NETRC_IGNORED, CURLE_TOO_LARGE | enumerator; unknown | macro; enumerator | CNetSpoolShims |
/// | blanks in a URL, with CURLU_URLENCODE | escaped | refused | `URLParser`: our own reading |
/// | `/%2e%2e/` in a path | kept | taken out | `EasyHandle.setTarget`: our target is sent |
/// | `/?` | sent | sent as `/` | the same |
/// | an empty or `#` reference | the folder | the URL itself | `URLReference.resolved` |
/// | a request that a GOAWAY says was not processed | code 16 | sent again | `Transfer.isUnprocessed` |
///
/// Not levelled, because 7.88.1 keeps silent about it, and passes for whole what had come; such an answer is not kept in a cache:
/// an HTTP/2 connection that nghttp2 gives up inside an answer that goes to memory (see `GivenUpConnections`), or that is flooded
/// with pings; a body that only the end of a TLS
/// connection ends, and that end comes without close_notify (RFC 9112 section 9.8; an error with OpenSSL 3.2 and later). Nor is
/// this, of versions from 7.88.0 on (curl issue 17611): that an exchange over HTTP/2 was given up, its server is told with the
/// next request on the connection, as RST_STREAM stays in a buffer until then.
enum Quirks {
  private static func areThere(since first: UInt32 = 0, endsWith end: UInt32 = .max) -> Bool {
    (first..<end).contains(LoadedCurl.version)
  }

  /// An easy handle that is used again still points to the last field of the exchange before. The field is freed when the next
  /// exchange begins, and written through when the first field line of that answer begins with a blank (curl issue 11101): such
  /// a line must not reach it.
  static let keepsFreedField = areThere(since: 0x07_53_00, endsWith: 0x08_01_01)

  /// HTTP/2 without TLS works once on each connection: used again, libcurl begins it anew (code 16).
  static let breaksKnownHTTP2 = areThere(endsWith: 0x08_00_00)

  /// An HTTP/2 head that the buffer cannot hold is forgotten, and the transfer hangs; nghttp2 takes none that is longer than this.
  static let http2HeadBytesMin = areThere(endsWith: 0x08_0E_01) ? 128 << 10 : 0

  /// The end of an answer over HTTP/2 is seen only when the transfer is told to go on, as long as its request is not sent, and
  /// not at all where the server reads no more of that.
  static let missesEndWhileSending = areThere(endsWith: 0x08_0E_01)

  /// An HTTP/2 connection that nghttp2 gives up inside an answer ends it as if it were whole; see `GivenUpConnections`.
  static let hidesGivenUp = areThere(endsWith: 0x08_00_00)

  /// Transfers go on waiting for a connection that has turned out to serve one at a time; see `MultiQuirks`.
  static let forgetsWaitingTransfers = areThere(since: 0x08_00_00)
}

extension Transfer {
  /// Has libcurl look at an answer again while its request is being sent.
  func lookAgainAfterHead() {
    guard Quirks.missesEndWhileSending, exchange.speaksHTTP2, exchange.head != nil,
      !exchange.pauses.contains(.turn)
    else { return }
    multi.postpone(self)
    pause(.turn)
  }

  /// Ends an exchange over HTTP/2 whose answer is whole, by its length, and of whose request nothing was taken for a second.
  func endIfSentInVain(now: Microseconds) {
    guard Quirks.missesEndWhileSending, hasBodyToSend, exchange.pauses.isEmpty, let head = exchange.head,
      announcedBody(head) == exchange.decoder?.bytesReceived ?? bodyBytes
    else { return }
    guard exchange.bytesSent == exchange.lastFill.bytes else {
      return exchange.lastFill = (exchange.bytesSent, now)
    }
    guard now - exchange.lastFill.seenAt >= 1_000_000 else { return }
    handle.setEndsConnection(true)
    multi.didBreak(self, code: 0)
  }
}

/// What an older libcurl leaves to us, or says with another code.
extension FailureMapping {
  /// Nil: all versions say the same.
  static func levelled(_ seen: Evidence) -> NetworkError? {
    switch seen.code {
    // 8.x judges the framing before it hands the line over.
    case Int32(CURLE_BAD_CONTENT_ENCODING.rawValue) where seen.message.contains("listed after chunked"):
      NetworkError(.ambiguousFraming, reason: "chunkedNotLast")
    case Int32(CURLE_BAD_CONTENT_ENCODING.rawValue) where !seen.hasHead:
      NetworkError(.ambiguousFraming, reason: "transferEncoding")
    // 7.88 has code 27.
    case Int32(cnetspool_curle_too_large) where seen.isConnected:
      NetworkError(.headersTooLarge, reason: seen.hasHead ? "trailers" : "line")
    // What follows the last chunk is no field line; 7.88 has a sentence about chunks, 8.x has none.
    case Int32(CURLE_BAD_FUNCTION_ARGUMENT.rawValue) where seen.hasHead:
      NetworkError(.badChunk, reason: seen.message)
    // TLS that ends without a word inside a body; with 7.88 that is its end.
    case Int32(CURLE_SEND_ERROR.rawValue), Int32(CURLE_RECV_ERROR.rawValue):
      seen.hasHead && seen.message.contains("unexpected eof") ? truncated(seen) : nil
    case Int32(CURLE_HTTP2.rawValue), Int32(CURLE_HTTP2_STREAM.rawValue),
      Int32(CURLE_WEIRD_SERVER_REPLY.rawValue):
      brokenHTTP2(seen)
    // With 7.88 a connection just ends when nghttp2 gives it up for what its peer has sent.
    case Int32(CURLE_GOT_NOTHING.rawValue) where !seen.hasHeadBegun && seen.speaksHTTP2 && !seen.isReused:
      NetworkError(.protocolViolation, reason: "an empty reply")
    default: nil
    }
  }

  private static func brokenHTTP2(_ seen: Evidence) -> NetworkError? {
    // A head that nghttp2 refuses; 7.88 has it as an error of the stream.
    if seen.message.contains("invalid frame: FRAME[HEADERS") {
      return NetworkError(.http2Failed, reason: seen.message)
    }
    // Inside a body; 7.88 calls what had come the whole, see `GivenUpConnections`.
    if seen.hasHead, seen.message.contains("nghttp2 shuts down connection") { return truncated(seen) }
    let isRefused = [
      "nghttp2 shuts down connection", "recv error -902", "expected SETTINGS frame",
      "invalid frame: FRAME[SETTINGS", "invalid frame: FRAME[PUSH_PROMISE",
    ].contains { seen.message.contains($0) }
    guard isRefused, !seen.hasHead else { return nil }
    return NetworkError(.protocolViolation, reason: "an empty reply: " + seen.message)
  }
}
