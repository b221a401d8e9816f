import NetSpool

/// Other rules than the standard ones.
extension CacheRows {
  private static let day = 86_400.0

  /// It lasts for so long.
  private static func lasts(_ rule: String, _ fields: String..., for seconds: Double) -> CacheRow {
    CacheRow(
      rule, "MKNetworkKit", Visit(answer: fields), Visit(after: seconds - 2, sees: .cache), Visit(after: 3))
  }

  /// The rules of MKNetworkKit: seven days for a picture, one for what has an ETag, a minute for `no-cache`.
  static let relaxed: [CacheRow] = [
    lasts("a picture", "Content-Type: image/png", for: 7 * day),
    lasts("a picture with an ETag", "Content-Type: image/png", "ETag: \"a\"", for: day),
    lasts("an ETag", "ETag: \"a\"", for: day),
    lasts("an ETag before Expires", "ETag: \"a\"", "Expires: {100}", for: day),
    lasts("no-cache", "Cache-Control: no-cache", for: 60),
    lasts("no-cache with an ETag", "Cache-Control: no-cache", "ETag: \"a\"", for: 60),
    lasts("max-age before an ETag", lasting, "ETag: \"a\"", for: 100),
    lasts("max-age before a picture", "Content-Type: image/png", lasting, for: 100),
    lasts("max-age shorter than no-cache", "Cache-Control: no-cache, max-age=10", for: 10),
    lasts("a picture before Expires", "Content-Type: image/png", "Expires: {100}", for: 7 * day),
    lasts("an ETag before an Expires that is over", "ETag: \"a\"", "Expires: 0", for: day),
    .stale(
      "a max-age that is none before a picture", "MKNetworkKit", "Content-Type: image/png",
      "Cache-Control: max-age=x"),
    lasts("no-cache in three words", "Cache-Control: no-cache", "Expires: 0", "Pragma: no-cache", for: 60),
    lasts("Expires alone", "Expires: {100}", for: 100),
    .stale("Last-Modified", "MKNetworkKit", "Last-Modified: {-100000}"),
    .stale("nothing", "MKNetworkKit"),
    .unstored("no-store holds all the same", "RFC 9111 5.2.2.5", "Cache-Control: no-store", "ETag: \"a\""),
    .fresh("Set-Cookie", "RFC 9111 7.3", "Content-Type: image/png", "Set-Cookie: a=b"),
    CacheRow(
      "asked with the ETag", "RFC 9111 4.3.1", .asks("ETag: \"a\""),
      .confirms("ETag: \"a\"", after: day + 1, sends: ["If-None-Match: \"a\""]), .hits(after: 1000)),
  ]

  static var ownNumbers: NetSpool.CacheRules {
    var rules = NetSpool.CacheRules.standard
    rules.imageLifetime = .seconds(100)
    rules.validatedImageLifetime = .seconds(50)
    rules.lastModifiedPercent = 0
    rules.noCacheLifetime = .seconds(10)
    return rules
  }

  static let numbers: [CacheRow] = [
    .fresh("imageLifetime", "", "Content-Type: image/gif", for: 99),
    .stale("imageLifetime", "", "Content-Type: image/gif", after: 101),
    .fresh("validatedImageLifetime", "", "Content-Type: image/gif", "ETag: \"a\"", for: 49),
    .stale("validatedImageLifetime", "", "Content-Type: image/gif", "ETag: \"a\"", after: 51),
    .stale("lastModifiedPercent", "", "Last-Modified: {-100000}"),
    .fresh("noCacheSeconds", "", "Cache-Control: no-cache", for: 9),
    .stale("noCacheSeconds", "", "Cache-Control: no-cache", after: 11),
  ]

  static var noHeuristics: NetSpool.CacheRules {
    var rules = NetSpool.CacheRules.standard
    rules.usesHeuristics = false
    return rules
  }

  static let said: [CacheRow] = [
    .stale("an image", "RFC 9111 4.2.2", "Content-Type: image/gif"),
    .stale("Last-Modified", "RFC 9111 4.2.2", "Last-Modified: {-100000}"),
    .fresh("max-age", "RFC 9111 4.2.1", lasting),
  ]
}
