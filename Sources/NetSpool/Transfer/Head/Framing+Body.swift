/// How the end of a body is known.
enum BodyFraming: Sendable, Hashable {
  /// There is no body, whatever the fields say.
  case none
  /// This many bytes.
  case length(Int64)
  /// Ended by the last chunk.
  case chunked
  /// Ended by the stream's own end mark (HTTP/2 and later).
  case stream
  /// Ended by the connection: a cut-off body looks like a whole one, so it is never cached nor resumed.
  case untilClose
}

extension Framing {
  /// Only the stream's end tells that of the body.
  func endsWithStream(_ head: ResponseHead?) -> Bool {
    guard let version = head?.version else { return false }
    return contentLength == nil && (version == .http2 || version == .http3)
  }

  /// The rules of RFC 9112 section 6.3, in their order.
  func body(status: Int, version: ResponseHead.Version, method: Method) -> BodyFraming {
    if method == .head || status < 200 || status == 204 || status == 304 { return .none }
    if isChunked { return .chunked }
    if version == .http2 || version == .http3 {
      return contentLength.map(BodyFraming.length) ?? .stream
    }
    if hasTransferEncoding { return .untilClose }
    return contentLength.map(BodyFraming.length) ?? .untilClose
  }
}
