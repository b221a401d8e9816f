extension NetworkCredentials {
  /// What a provider of credentials is asked: a request that was answered with 401.
  public struct Refusal: Sendable {
    /// Where it was sent.
    public let url: String
    /// Its method.
    public let method: NetworkRequest.Method
    /// The 401, with its challenge in `WWW-Authenticate` and its body.
    public let response: NetworkResponse
  }
}

extension NetworkCredentials.Refusal: CustomStringConvertible {
  /// Method, URL without secrets, and status.
  public var description: String { "\(method) \(Redaction.standard.url(url)) \(response.status)" }
}
