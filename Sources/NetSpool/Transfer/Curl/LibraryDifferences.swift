internal import CNetSpoolCurl
internal import CNetSpoolShims

/// What the versions of the C libraries do differently, and what is made of it. Seen with libcurl 7.88.1 (Debian 12) and
/// 8.14.1 (Debian 13), libuv 1.44.2 and 1.50.0, LMDB 0.9.24 and 0.9.31; libuv and LMDB differ in nothing that we use.
///
/// Levelled, so that a user sees the same with every version:
///
/// | what | 7.88.1 | 8.14.1 | levelled in |
/// |---|---|---|---|
/// | CURL_NETRC_IGNORED, CURLE_TOO_LARGE | enumerator; unknown | macro; enumerator | CNetSpoolShims |
/// | blanks in a URL, with CURLU_URLENCODE | escaped | refused | `URLParser`: our own reading |
/// | `/%2e%2e/` in a path | kept | taken out | `EasyHandle.setTarget`: our target is sent |
/// | `/?` | sent | sent as `/` | the same |
/// | an empty or `#` reference | the folder | the URL itself | `URLReference.resolved` |
/// | Transfer-Encoding nobody asked for, or behind chunked | ours to judge | code 61 | `levelled` |
/// | a field line that is too long | code 27 | code 100 | the same |
/// | a chunked body that goes on with no field line | code 56, "chunk" | code 43 | the same |
/// | TLS that ends without a word inside a body | the end | code 55 or 56 | the same, and below |
/// | HTTP/2 that nghttp2 refuses, before an answer | code 52, an empty reply | 16, 92 or 8 | the same |
/// | a field that an easy handle still points to | 7.83 to 8.1.0 | no | `CoreLibraryVersions.keepsFreedField` |
/// | an HTTP/2 head longer than the buffer | hangs | goes on | `HandleSettings.bufferBytes` |
/// | transfers that wait for a connection that turns out to be HTTP/1.1 | go on then | go on when a transfer has ended | `WaitingTransfers` |
/// | HTTP/2 by prior knowledge on a connection that is used again | code 16 | works | `EasyHandle.servesOnce` |
/// | a request that a GOAWAY says was not processed | code 16 | sent again | `Transfer.isUnprocessed` |
/// | an HTTP/2 answer that ends before the body is sent | hangs | ends | `Transfer.fill` |
/// | an answer that is there as soon as the request is sent | an event tells | is read without one | `MultiHandle.didConnect` |
///
/// Not levelled, because the older one keeps silent about it: see `tellsOfBrokenHTTP2` and `tellsOfCutOffTLS`. In
/// both cases the older one passes for whole what had come, and such an answer is not kept in a cache.
enum LibraryDifferences {
  private static let curl: UInt32 = unsafe curl_version_info(CURLVERSION_SEVENTH)?.pointee.version_num ?? 0

  /// libcurl 8 fails a transfer when nghttp2 gives the connection up inside an answer, and gives up one that is flooded with
  /// pings. 7.88 takes what had come for the whole.
  static let tellsOfBrokenHTTP2 = curl >= 0x08_00_00

  /// A body that only the end of a TLS connection ends, and that end comes without close_notify: an error since libcurl
  /// 8 with OpenSSL 3.2 and later, the end of the body before (RFC 9112 section 9.8).
  static let tellsOfCutOffTLS = curl >= 0x08_00_00

  /// Transfers go on waiting for a connection that has turned out to serve one at a time.
  static let forgetsWaitingTransfers = curl >= 0x08_00_00

  /// HTTP/2 without TLS works once on each connection: used again, libcurl begins it anew.
  static let breaksKnownHTTP2 = curl < 0x08_00_00

  /// What an older libcurl leaves to us, or says with another code; nil: both say the same.
  static func levelled(_ seen: FailureMapping.Evidence) -> NetworkError? {
    switch seen.code {
    // 8.x judges the framing before it hands the line over.
    case Int32(CURLE_BAD_CONTENT_ENCODING.rawValue) where seen.message.contains("listed after chunked"):
      NetworkError(.ambiguousFraming, reason: "chunkedNotLast")
    case Int32(CURLE_BAD_CONTENT_ENCODING.rawValue) where !seen.hasHead:
      NetworkError(.ambiguousFraming, reason: "transferEncoding")
    case Int32(cnetspool_curle_too_large) where seen.isConnected:
      NetworkError(.headersTooLarge, reason: seen.hasHead ? "trailers" : "line")
    // What follows the last chunk is no field line; 7.88 has a sentence about chunks, 8.x has none.
    case Int32(CURLE_BAD_FUNCTION_ARGUMENT.rawValue) where seen.hasHead:
      NetworkError(.badChunk, reason: seen.message)
    case Int32(CURLE_SEND_ERROR.rawValue), Int32(CURLE_RECV_ERROR.rawValue): cutOff(seen)
    case Int32(CURLE_HTTP2.rawValue), Int32(CURLE_HTTP2_STREAM.rawValue),
      Int32(CURLE_WEIRD_SERVER_REPLY.rawValue):
      brokenHTTP2(seen)
    default: nil
    }
  }

  private static func cutOff(_ seen: FailureMapping.Evidence) -> NetworkError? {
    seen.hasHead && seen.message.contains("unexpected eof") ? FailureMapping.truncated(seen) : nil
  }

  /// With 7.88 a connection whose peer breaks the rules just ends.
  private static func brokenHTTP2(_ seen: FailureMapping.Evidence) -> NetworkError? {
    // A head that nghttp2 refuses; 7.88 has it as an error of the stream.
    if seen.message.contains("invalid frame: FRAME[HEADERS") {
      return NetworkError(.http2Failed, reason: seen.message)
    }
    let isRefused = [
      "nghttp2 shuts down connection", "recv error -902", "expected SETTINGS frame",
      "invalid frame: FRAME[SETTINGS", "invalid frame: FRAME[PUSH_PROMISE",
    ].contains { seen.message.contains($0) }
    guard isRefused, !seen.hasHead else { return nil }
    return NetworkError(.protocolViolation, reason: "an empty reply: " + seen.message)
  }
}
