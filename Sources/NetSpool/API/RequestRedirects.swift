/// Which redirects are followed (RFC 9110 section 15.4). Not from https to http, never in a cycle; to another
/// origin only `Accept*`, `User-Agent` and the body's own fields go along.
public struct RequestRedirects: Sendable, Hashable {
  var core: RedirectPolicy

  /// At most 10; a body is sent again only on 307 and 308 to the same origin.
  public static let standard = Self(core: .standard)
  /// None: a 3xx is the answer.
  public static let none = Self(core: .none)

  /// How many are followed; 10. The next one ends with `.tooManyRedirects`.
  public var limit: Int {
    get { core.hopsMax }
    set { core.hopsMax = newValue }
  }

  /// Whether https may lead to http; false by default: `.redirectRefused` (`downgrade`).
  public var allowsDowngrade: Bool {
    get { core.allowsDowngrade }
    set { core.allowsDowngrade = newValue }
  }

  /// Whether 307 and 308 send the body to another origin as well; false by default: `.redirectRefused` (`body`).
  public var resendsBodyAcrossOrigins: Bool {
    get { core.resendsBodyAcrossOrigins }
    set { core.resendsBodyAcrossOrigins = newValue }
  }

  /// As `standard`, with another limit.
  public static func atMost(_ count: Int) -> Self {
    var policy = RedirectPolicy.standard
    policy.hopsMax = count
    return Self(core: policy)
  }
}
