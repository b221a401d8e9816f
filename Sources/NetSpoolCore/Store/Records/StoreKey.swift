/// What a record is found by: a key of any length, and the beginning of its SHA-256 digest under which it is
/// filed. The full key is compared on every read, so a collision is a miss and never a wrong answer.
package struct StoreKey: Sendable, Hashable {
  /// Longer ones cannot be stored.
  package static let bytesMax = Int(UInt16.max)

  package let fullKey: [UInt8]
  let digest: KeyDigest

  package init(_ fullKey: [UInt8]) {
    self.fullKey = fullKey
    var digest = SHA256()
    digest.update(fullKey.rawBytes)
    self.digest = KeyDigest(digest.firstWords)
  }

  package static func == (left: StoreKey, right: StoreKey) -> Bool {
    left.digest == right.digest && left.fullKey == right.fullKey
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// The first 16 bytes of a SHA-256 digest.
package struct KeyDigest: Sendable, Hashable {
  package let first: UInt64
  package let second: UInt64

  package init(_ words: (UInt64, UInt64)) { (first, second) = words }

  /// From a key of the database.
  init?(_ bytes: RawSpan) {
    guard bytes.byteCount == 16 else { return nil }
    first = bytes.integer(at: 0)
    second = bytes.integer(at: 8)
  }

  var recordKey: RecordKey { RecordKey(digest: first.littleEndian, second.littleEndian) }
  var checksumSeed: UInt64 { first ^ second }

  /// It is evenly spread already.
  package func hash(into hasher: inout Hasher) { hasher.combine(first) }
}
