/// The numbers behind the cache's decisions: `.standard`, `.relaxed`, or your own.
///
/// `no-store`, `Vary`, Set-Cookie and partial answers are no matter of rules: they are the same in each.
struct CoreCacheRules: Sendable, Hashable {
  /// How long answers last that say nothing; `.standard`.
  var heuristics = CacheHeuristics.standard
  /// The cache serves several users, so the rules for shared caches apply (RFC 9111 section 3): `private`
  /// is not stored, `s-maxage` and `proxy-revalidate` count, Authorization needs permission (section
  /// 3.5). False.
  var isShared = false
  /// An answer with `no-cache` is used for so many seconds without asking; 0, as RFC 9111 section 5.2.2.4
  /// demands.
  var noCacheSeconds: Int64 = 0
  /// A Date further ahead of the local clock than this makes the answer stale; 300 seconds.
  var clockSkewSecondsMax: Int64 = 300

  init() {}

  /// RFC 9111 for a private cache.
  static let standard = CoreCacheRules()

  /// The five rules of the kit that this one succeeds: an ETag is asked with after one day, `max-age` is
  /// honoured, Last-Modified makes requests conditional, `no-cache` is held for 60 seconds, an image
  /// without information for seven days. Not RFC 9111: for origins that are known to mean it so.
  static let relaxed = {
    var relaxed = CoreCacheRules()
    relaxed.heuristics = .relaxed
    relaxed.noCacheSeconds = 60
    return relaxed
  }()
}

extension CoreCacheRules {
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
