/// Whether and how far redirects are followed. libcurl's own following stays off: it has no limit, goes
/// to other schemes and carries custom credentials along.
struct RedirectPolicy: Sendable, Hashable {
  /// False: a 3xx is the answer. Default true.
  var follows: Bool
  /// Redirects of one operation; the next one fails with `tooManyRedirects`. Default 10.
  var hopsMax: Int
  /// Whether https may lead to http. Default false.
  var allowsDowngrade: Bool
  /// Whether 307 and 308 send the body to another origin too. Default false.
  var resendsBodyAcrossOrigins: Bool

  init(
    follows: Bool = true, hopsMax: Int = 10, allowsDowngrade: Bool = false,
    resendsBodyAcrossOrigins: Bool = false
  ) {
    self.follows = follows
    self.hopsMax = hopsMax
    self.allowsDowngrade = allowsDowngrade
    self.resendsBodyAcrossOrigins = resendsBodyAcrossOrigins
  }

  static let standard = RedirectPolicy()
  static let none = RedirectPolicy(follows: false)
}
