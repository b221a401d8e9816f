/// What a provider of credentials is asked: a request that was answered with 401.
public struct CredentialRequest: Sendable {
  /// Where it was sent.
  public let url: String
  /// Its method.
  public let method: HTTPMethod
  /// The 401, with its challenge in `WWW-Authenticate` and its body.
  public let response: NetworkResponse

  init(_ question: CredentialQuestion) {
    url = question.url
    method = HTTPMethod(core: question.method)
    response = NetworkResponse(question.response)
  }
}

extension CredentialRequest: CustomStringConvertible {
  /// Method, URL without secrets, and status.
  public var description: String { "\(method) \(Redaction.standard.url(url)) \(response.status)" }
}
