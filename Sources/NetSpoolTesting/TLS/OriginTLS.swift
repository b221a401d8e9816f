/// TLS of a ``ScriptedOrigin``: which certificate it shows, and what it speaks.
///
/// Certificate and key are made when the origin is, signed by an authority of the origin's own that no client trusts that
/// was not given ``ScriptedOrigin/certificateAuthority``. Neither key is written anywhere.
/// ```swift
/// let origin = try ScriptedOrigin(tls: .selfSigned)
/// let expired = try ScriptedOrigin(tls: .selfSigned(isExpired: true))
/// ```
/// OpenSSL is loaded when it is needed: libssl and, for HTTP/2, libnghttp2, which libcurl uses as well.
public struct OriginTLS: Sendable, Equatable {
  /// Names and addresses that the certificate is for. Default `localhost`, `127.0.0.1` and `::1`.
  public var names: [String]
  /// True when the certificate's time was over an hour ago. Default false: it holds for a day.
  public var isExpired: Bool
  /// True when it speaks HTTP/2 with clients that can (ALPN, RFC 7301). Default true.
  public var offersHTTP2: Bool

  /// A certificate for this machine's own names, with HTTP/2.
  public static let selfSigned = OriginTLS.selfSigned()

  /// Makes a certificate for other names, without HTTP/2, or with a certificate whose time is over.
  public static func selfSigned(
    names: [String] = ["localhost", "127.0.0.1", "::1"], isExpired: Bool = false, offersHTTP2: Bool = true
  ) -> OriginTLS {
    OriginTLS(names: names, isExpired: isExpired, offersHTTP2: offersHTTP2)
  }
}
