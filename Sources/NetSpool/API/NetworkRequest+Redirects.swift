extension NetworkRequest {
  /// Which redirects are followed (RFC 9110 section 15.4). Not from https to http, never in a cycle; to another
  /// origin only `Accept*`, `User-Agent` and the body's own fields go along.
  ///
  /// libcurl's own following stays off: it has no limit, goes to other schemes and carries custom credentials along.
  public struct Redirects: Sendable, Hashable {
    /// False: a 3xx is the answer.
    var follows = true
    /// How many are followed; 10. The next one ends with `.tooManyRedirects`.
    public var limit = 10
    /// Whether https may lead to http; false by default: `.redirectRefused` (`downgrade`).
    public var allowsDowngrade = false
    /// Whether 307 and 308 send the body to another origin as well; false by default: `.redirectRefused` (`body`).
    public var resendsBodyAcrossOrigins = false

    /// At most 10; a body is sent again only on 307 and 308 to the same origin.
    public static let standard = Self()
    /// None: a 3xx is the answer.
    public static let none = Self(follows: false)
    /// As `standard`, with another limit.
    public static func atMost(_ count: Int) -> Self { Self(limit: count) }
  }
}
