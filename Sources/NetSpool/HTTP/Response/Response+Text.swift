extension Response {
  /// The body as text; nil without a body.
  var text: String? {
    guard body.count > 0 else { return nil }
    let charset = head.headers.first("Content-Type").flatMap { MediaType($0)?.charset }
    return TextDecoding.decode(body.array[...], label: charset).text
  }
}

extension CoreResponseHead.Version {
  var name: String {
    switch self {
    case .http10: "HTTP/1.0"
    case .http11: "HTTP/1.1"
    case .http2: "HTTP/2"
    case .http3: "HTTP/3"
    }
  }
}
