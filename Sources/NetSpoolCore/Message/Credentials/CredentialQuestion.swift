/// What a provider is asked: the request that was refused, and the refusal.
package struct CredentialQuestion: Sendable {
  package var url: String
  package var method: Method
  /// The 401.
  package var response: Response
}
