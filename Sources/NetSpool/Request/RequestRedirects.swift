package import NetSpoolCore

/// Which redirects are followed (RFC 9110 section 15.4). Never from https to http, never in a cycle; to another
/// origin only `Accept*`, `User-Agent` and the body's own fields go along.
public struct RequestRedirects: Sendable, Hashable {
  package var core: RedirectPolicy

  /// At most 10; a body is sent again only on 307 and 308 to the same origin.
  public static let standard = Self(core: .standard)
  /// None: a 3xx is the answer.
  public static let none = Self(core: .none)

  /// As `standard`, with another limit.
  public static func atMost(_ count: Int) -> Self {
    var policy = RedirectPolicy.standard
    policy.hopsMax = count
    return Self(core: policy)
  }
}
