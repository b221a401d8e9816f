/// Where in the table a key stands: which bucket, and as what.
struct ClaimKey {
  let bucket: UInt64
  let tag: UInt64

  init(_ key: KeyDigest) {
    let mixed = key.first ^ key.second
    (bucket, tag) = (mixed, mixed >> (64 - ClaimWord.tagBits))
  }
}

/// An owner of claims among all processes: a place in the table, and which of those that had it.
struct ClaimOwner: Equatable, Sendable {
  static let generationMask: UInt64 = 0x3FF

  let slot: Int
  let generation: UInt64
}

/// A claim as it stands in the table:
///
///   bits  0-1   `Kind`
///         2-9   the owner's place
///        10-19  which owner there
///        20-35  when, in quarters of a second
///        36-63  the first bits of the digest
struct ClaimWord {
  enum Kind: UInt64 { case none, claim, done, uncacheable }

  static let tagBits: UInt64 = 28
  /// How long it is remembered that an answer could not be stored: 60 s.
  static let uncacheableAge = 240

  let bits: UInt64

  init(bits: UInt64) { self.bits = bits }

  init(_ kind: Kind, _ tag: UInt64, _ owner: ClaimOwner, _ now: Microseconds) {
    let moment = UInt64(now / ClaimTable.beat) & 0xFFFF
    bits = kind.rawValue | UInt64(owner.slot) << 2 | owner.generation << 10 | moment << 20 | tag << 36
  }

  var kind: Kind { Kind(rawValue: bits & 3) ?? .none }
  var tag: UInt64 { bits >> 36 }
  var owner: ClaimOwner {
    ClaimOwner(slot: Int(bits >> 2 & 0xFF), generation: bits >> 10 & ClaimOwner.generationMask)
  }

  /// In quarters of a second.
  func age(_ now: Microseconds) -> Int {
    Int((UInt64(now / ClaimTable.beat) &- (bits >> 20 & 0xFFFF)) & 0xFFFF)
  }
}
