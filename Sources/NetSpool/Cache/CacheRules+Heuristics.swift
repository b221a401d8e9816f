/// How long an answer is taken for fresh when its origin did not say (RFC 9111 section 4.2.2). All in
/// seconds unless named otherwise. The first that applies counts: image, entity tag, Last-Modified.
struct CacheHeuristics: Sendable, Hashable {
  /// An image (`Content-Type: image/…`) with an ETag or Last-Modified; 86,400, one day.
  var validatedImageSeconds: Int64 = 86_400
  /// An image without either; 604,800, seven days.
  var imageSeconds: Int64 = 604_800
  /// The lifetime of anything with an ETag; 0: it is asked again each time.
  var entityTagSeconds: Int64 = 0
  /// Anything with Last-Modified: so much of the time since then, in percent; 10.
  var lastModifiedPercent: Int64 = 10
  /// The most that `lastModifiedPercent` may give; 86,400, one day.
  var lastModifiedSecondsMax: Int64 = 86_400
  /// They count even when the origin sent Expires; false. RFC 9111 section 4.2.2 forbids it.
  var overridesExpires = false

  init() {}

  static let standard = CacheHeuristics()

  /// An answer without explicit lifetime is stale at once.
  static let none = {
    var none = CacheHeuristics()
    none.validatedImageSeconds = 0
    none.imageSeconds = 0
    none.lastModifiedPercent = 0
    return none
  }()

  /// An ETag lasts one day, Last-Modified is asked with each time, Expires does not count against either.
  static let relaxed = {
    var relaxed = CacheHeuristics()
    relaxed.entityTagSeconds = 86_400
    relaxed.lastModifiedPercent = 0
    relaxed.overridesExpires = true
    return relaxed
  }()
}

extension CacheRules {
  /// Tells whether something was worked out under these rules. The same in every process, since it is
  /// stored; 64 bits, and two rule sets that meet in them would only share their lifetimes.
  var fingerprint: UInt64 {
    var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
    Self.mix(heuristics.validatedImageSeconds, into: &hash)
    Self.mix(heuristics.imageSeconds, into: &hash)
    Self.mix(heuristics.entityTagSeconds, into: &hash)
    Self.mix(heuristics.lastModifiedPercent, into: &hash)
    Self.mix(heuristics.lastModifiedSecondsMax, into: &hash)
    Self.mix(noCacheSeconds, into: &hash)
    Self.mix(clockSkewSecondsMax, into: &hash)
    Self.mix((heuristics.overridesExpires ? 1 : 0) | (isShared ? 2 : 0), into: &hash)
    return hash
  }

  @inline(__always)
  private static func mix(_ number: Int64, into hash: inout UInt64) {
    let product = (hash ^ UInt64(bitPattern: number)).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    hash = product.high ^ product.low &+ 0x632B_E59B_D9B4_E019
  }
}
