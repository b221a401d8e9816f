/// Credentials: the account that requests are sent for. Given to an engine or to a single request.
///
/// They are kept in memory only and never written to disk, shown in logs, errors, descriptions or `dump`, nor sent to
/// another origin. Handles, coalesced exchanges and cached answers are never shared between two of them, and
/// connections are not when the credential belongs to the connection (NTLM, client certificates).
///
/// A refusal is answered once; then the operation ends with `.authenticationFailed` and the 401 inside. The scheme is
/// the one that is named here: an origin cannot ask for a weaker one.
public final class NetworkCredentials: Sendable {
  // A class, because every request of an engine goes with the same one.
  let scheme: Scheme?
  let certificate: ClientCertificate?
  /// Equal for equal credentials, and no secret: a hash under this process's key.
  let id: UInt64

  init(scheme: Scheme? = nil, certificate: ClientCertificate? = nil) {
    self.scheme = scheme
    self.certificate = certificate
    id = Self.identity((scheme?.parts ?? []) + (certificate?.parts ?? []))
  }

  /// Basic (RFC 7617), with the first request; with `preemptive: false` only when the origin asks for it. Refused over
  /// plain HTTP, see `allowsCredentialsInClear`.
  public static func basic(user: String, password: String, preemptive: Bool = true) -> NetworkCredentials {
    NetworkCredentials(scheme: .basic(user: user, password: Secret(password), preemptive: preemptive))
  }

  /// Digest if the origin offers it, else Basic; when the origin asks.
  public static func password(user: String, password: String) -> NetworkCredentials {
    NetworkCredentials(scheme: .password(user: user, password: Secret(password)))
  }

  /// Digest (RFC 7616) with MD5 or SHA-256, when the origin asks. An origin that offers only Basic is refused.
  public static func digest(user: String, password: String) -> NetworkCredentials {
    NetworkCredentials(scheme: .digest(user: user, password: Secret(password)))
  }

  /// NTLM for `DOMAIN\user`: each request on a connection of its own, over HTTP/1.1. With a libcurl built
  /// without NTLM it ends with `.invalidConfiguration`.
  public static func ntlm(user: String, password: String) -> NetworkCredentials {
    NetworkCredentials(scheme: .ntlm(user: user, password: Secret(password)))
  }

  /// `Authorization: Bearer <token>` (RFC 6750). Refused over plain HTTP, see `allowsCredentialsInClear`.
  public static func bearer(_ token: String) -> NetworkCredentials {
    NetworkCredentials(scheme: .bearer(Secret(token)))
  }

  /// Signature Version 4 with each request, as Amazon's services ask for it, and S3 servers of others
  /// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). A signature is good for
  /// this one request and some minutes, and each attempt has a new one; plain HTTP is allowed.
  ///
  /// Signed are host, path, query, `Content-Type`, `Content-MD5`, `Date`, `Range`, all `X-Amz-…` fields, and bodies in memory.
  /// Bodies from files and streams go unsigned to S3; for other services they need an `X-Amz-Content-Sha256` of your own, or
  /// the request ends with `.invalidConfiguration`. An `X-Amz-Date` of your own is used as the time; one that is no such time:
  /// `.invalidRequest`. Credentials that change now and then are given to each request in ``NetworkEngine/Configuration/prepare``.
  ///
  /// - Parameters:
  ///   - accessKey: the name of the key, which is no secret.
  ///   - secretKey: what is signed with; it is never sent.
  ///   - sessionToken: of credentials for a limited time; nil by default.
  ///   - region: such as `eu-central-1`.
  ///   - service: as it is called in the signature; `s3` by default.
  public static func awsSigV4(
    accessKey: String, secretKey: String, sessionToken: String? = nil, region: String, service: String = "s3"
  ) -> NetworkCredentials {
    NetworkCredentials(
      scheme: .aws(
        AWSAccount(
          accessKey: accessKey, secretKey: Secret(secretKey), sessionToken: sessionToken.map { Secret($0) },
          region: region, service: service)))
  }

  /// Header fields of your own, such as an API key. A request's own fields of the same names win. Refused over plain
  /// HTTP, see `allowsCredentialsInClear`.
  public static func fields(_ fields: NetworkRequest.Headers) -> NetworkCredentials {
    NetworkCredentials(scheme: .fields(fields))
  }

  /// Asks the closure when the origin answers 401: once for all requests that were refused together, at most once for
  /// each request, and for at most 60 seconds. What it gives goes with this and all later requests until it is
  /// refused; nil, or an error, ends the request with `.authenticationFailed`. After an error a frozen one waits,
  /// and goes again.
  ///
  /// It runs as a task of its own, on no thread of NetSpool. Requests of its own need another engine, or
  /// credentials of their own. A provider stands for one user: what was stored for one of its tokens answers for the next. For
  /// another user make another provider, or set ``NetworkRequest/credentialScope``.
  public static func provider(
    _ provide: @escaping @Sendable (NetworkCredentials.Refusal) async throws -> NetworkCredentials?
  ) -> NetworkCredentials {
    NetworkCredentials(scheme: .provider(CredentialProvider(provide)))
  }

  /// A client certificate: a file in PEM, with its private key in it or in `key`, or in PKCS#12. Files are read when a
  /// connection is made, and the certificate once here: another one in its place is another account. One that cannot be
  /// used ends with `.tlsRejected` (`clientCertificate`), and what is no regular file with `.invalidConfiguration` before
  /// anything is queued. Its connections serve no other credentials.
  ///
  /// - Parameters:
  ///   - path: the file with the certificate.
  ///   - key: the file with its key; nil, the default: it is in the same one.
  ///   - password: of the key; an encrypted key without one is refused, without a question.
  public static func clientCertificate(path: String, key: String? = nil, password: String? = nil)
    -> NetworkCredentials
  {
    NetworkCredentials(certificate: ClientCertificate(path: path, key: key, password: password))
  }

  /// Both: a client certificate and a scheme of authentication. What is set here wins.
  public func with(_ other: NetworkCredentials) -> NetworkCredentials { over(other) }
}

extension NetworkCredentials: CustomStringConvertible, CustomReflectable {
  /// The kind and the user, never a secret: `basic(user: anna)`.
  public var description: String {
    let certificate = certificate.map { "clientCertificate(path: \($0.path))" }
    return [scheme.map(Self.text), certificate].compactMap(\.self).joined(separator: ", ")
  }

  /// The description: `dump` and crash texts go by it.
  public var customMirror: Mirror { Mirror(self, children: ["credentials": description]) }

  private static func text(_ scheme: NetworkCredentials.Scheme) -> String {
    switch scheme {
    case .basic(let user, _, _): "basic(user: \(user))"
    case .password(let user, _): "password(user: \(user))"
    case .digest(let user, _): "digest(user: \(user))"
    case .ntlm(let user, _): "ntlm(user: \(user))"
    case .bearer: "bearer"
    case .aws(let account): "awsSigV4(accessKey: \(account.accessKey), \(account.region)/\(account.service))"
    case .fields: "fields"
    case .provider: "provider"
    }
  }
}

extension NetworkCredentials {
  /// The question to a provider of credentials: a request that was answered with 401.
  public struct Refusal: Sendable, CustomStringConvertible, CustomReflectable {
    /// The URL to which it was sent.
    public let url: String
    /// Its method.
    public let method: NetworkRequest.Method
    /// The 401, with its challenge in `WWW-Authenticate` and its body.
    public let response: NetworkResponse

    /// Method, URL without secrets, and status.
    public var description: String { "\(method) \(Redaction.standard.url(url)) \(response.status)" }
    /// The description: `dump` goes by it.
    public var customMirror: Mirror { Mirror(self, children: ["refusal": description]) }
  }
}
