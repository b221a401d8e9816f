/// What is known of an answer before its body.
public struct ResponseHead: Sendable {
  enum Version: UInt8, Sendable { case http10, http11, http2, http3 }

  var version: Version
  /// The status code.
  public internal(set) var status: Int
  /// The header fields as received.
  public internal(set) var headers: NetworkRequest.Headers
  /// Fields that came after the body.
  var trailers = Headers()

  init(version: Version, status: Int, headers: Headers) {
    self.version = version
    self.status = status
    self.headers = headers
  }

  /// The HTTP version of the answer: `HTTP/1.1`, `HTTP/2`.
  public var httpVersion: String { version.name }
}

extension ResponseHead.Version {
  var name: String {
    switch self {
    case .http10: "HTTP/1.0"
    case .http11: "HTTP/1.1"
    case .http2: "HTTP/2"
    case .http3: "HTTP/3"
    }
  }
}
