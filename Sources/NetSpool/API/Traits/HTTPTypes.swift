#if HTTPTypes
public import HTTPTypes

extension NetworkRequest {
  /// The same request in our words (trait `HTTPTypes`). One without scheme or authority is for a path of the engine that
  /// sends it.
  public init(_ request: HTTPRequest, body: Body = .none) {
    let path = request.path ?? "/"
    let method = Method(request.method.rawValue)
    if let scheme = request.scheme, let authority = request.authority {
      self.init(
        url: "\(scheme)://\(authority)\(path)", method: method, headers: Headers(request.headerFields),
        body: body)
    } else {
      self.init(path: path, method: method, headers: Headers(request.headerFields), body: body)
    }
  }

  /// Method, URL and fields in the words of swift-http-types (trait `HTTPTypes`); nil when the URL is unusable, or the method
  /// is no token.
  public var httpRequest: HTTPRequest? {
    guard let method = HTTPRequest.Method(method.name) else { return nil }
    if isRelative {
      return HTTPRequest(
        method: method, scheme: nil, authority: nil, path: url, headerFields: HTTPFields(headers))
    }
    guard let pieces = try? URLParser.parse(url).pieces else { return nil }
    return HTTPRequest(
      method: method, scheme: pieces.scheme,
      authority: String(pieces.origin.text.dropFirst(pieces.scheme.utf8.count + 3)),
      path: pieces.pathAndQuery, headerFields: HTTPFields(headers))
  }
}

extension NetworkResponse {
  /// Status and fields in the words of swift-http-types (trait `HTTPTypes`).
  public var httpResponse: HTTPResponse {
    HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: HTTPFields(headers))
  }

  /// An answer of your own making, as if it had come from the network (trait `HTTPTypes`): for tests of what is done with one.
  public init(_ response: HTTPResponse, body: [UInt8] = [], url: String = "") {
    let head = ResponseHead(
      version: .http11, status: response.status.code, headers: NetworkRequest.Headers(response.headerFields))
    self.init(head: head, body: ResponseBytes(body), source: .network, finalURL: url)
  }
}

extension NetworkRequest.Headers {
  /// The same fields (trait `HTTPTypes`).
  public init(_ fields: HTTPFields) {
    self.init()
    for field in fields { add(field.name.rawName, field.value) }
  }
}

extension HTTPFields {
  /// The same fields, without those whose names are no tokens (trait `HTTPTypes`).
  public init(_ headers: NetworkRequest.Headers) {
    self.init()
    for field in headers {
      if let name = HTTPField.Name(field.name) { append(HTTPField(name: name, value: field.value)) }
    }
  }
}
#endif
