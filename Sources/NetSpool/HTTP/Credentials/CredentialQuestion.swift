/// What a provider is asked: the request that was refused, and the refusal.
struct CredentialQuestion: Sendable {
  var url: String
  var method: Method
  /// The 401.
  var response: Response
}
