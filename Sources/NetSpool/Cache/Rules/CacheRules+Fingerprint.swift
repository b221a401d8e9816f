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
