import Testing

@testable import NetSpool

@Suite struct FieldMeaningTests {
  private let standard = FieldMeaning.standard

  static let secrets = [
    "PHPSESSID", "Token", "Password", "X-Session-Id", "Secret-Key", "Api_Key", "X-CSRFToken",
    "Authentication", "X-JWT-Assertion", "X-Hub-Signature-256", "DPoP", "dpop", "Authorization",
    "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "x-functions-key", "XSRF-TOKEN",
    "x-csrftoken", "X-Auth0-Claims", "X-OAuth2", "accessToken", "X_ACCESS_TOKEN", "xapikey", "SessionID",
    "X-Session", "sid", "X-OTP", "X-Ticket", "X-Amz-Security-Token", "X-Goog-Signature",
    "Ocp-Apim-Subscription-Key", "X-Client-Pwd", "Private-Token", "UserCredential", "X-Vault-Token", "Key",
    "theKEY",
  ]

  @Test(arguments: secrets + ["X-Auth-User", "Api-Key", "COOKIE", "X-CSRF-Token", "X-Hub-Signature"])
  func `a secret is told by its words, in any spelling`(name: String) { #expect(standard.isSecret(name)) }

  @Test(arguments: [
    "Idempotency-Key", "idempotency-key", "Cache-Key", "Surrogate-Key", "Keep-Alive", "Sec-WebSocket-Key",
    "Sec-WebSocket-Accept", "Accept", "User-Agent", "Content-Type", "X-Request-Id", "Host", "ETag",
    "X-Keyboard", "Author", "Authority", "X-Passenger", "X-Monkey", "X-Obsession", "WWW-Authenticate",
    "X-RateLimit-Remaining-Tokens", "Assessment", "Forwarded", "Max-Forwards", "traceparent", "",
  ])
  func `other fields are open`(name: String) { #expect(!standard.isSecret(name)) }

  @Test(arguments: [
    "X-User", "X-User-Id", "X-UserID", "x-userid", "Remote-User", "X-Forwarded-User", "X-Tenant", "TenantId",
    "X-Account", "X-Customer-Id", "X-Identity", "Impersonate-User", "X-Impersonated-By", "On-Behalf-Of",
    "X-On-Behalf-Of", "From", "X-Org-Id", "X-Act-As", "Sudo", "X-Client-Cert", "X-Member-Id", "X-Device-Id",
    "X-Workspace-Id", "X-UID", "X-Actor-Id", "X-Person",
  ])
  func `some name a person`(name: String) { #expect(standard.namesPerson(name) && !standard.isSecret(name)) }

  @Test(arguments: [
    "User-Agent", "X-Original-User-Agent", "Accept", "X-Request-Id", "Accept-Language", "X-Userland",
  ])
  func `other fields name no person`(name: String) { #expect(!standard.namesPerson(name)) }

  @Test func `the caller knows better, secrets above all`() {
    let own = FieldMeaning(secret: ["X-Request-Id", "X-Both"], open: ["X-Sort-Key", "X-Both", "X-Tenant"])
    #expect(own.isSecret("x-request-id") && own.isSecret("X-BOTH"))
    #expect(!own.isSecret("x-sort-key") && !own.namesPerson("X-Tenant"))
  }
}
