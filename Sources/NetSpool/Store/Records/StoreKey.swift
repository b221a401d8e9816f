/// What a record is found by: a key of any length, and its digest under which it is filed. The full key is
/// compared on every read, so a collision is a miss and never a wrong answer.
struct StoreKey: Sendable, Hashable {
  /// Longer ones cannot be stored.
  static let bytesMax = Int(UInt16.max)

  let fullKey: [UInt8]
  let digest: KeyDigest

  /// The same in every process, and in no other use of the hash: "NetSpool", "entries\0".
  private static let hashKey: (UInt64, UInt64) = (0x6C6F_6F70_5374_654E, 0x0073_6569_7274_6E65)

  init(_ fullKey: [UInt8]) {
    self.fullKey = fullKey
    digest = KeyDigest(SipHash.hash(fullKey.rawBytes, key: Self.hashKey))
  }

  static func == (left: StoreKey, right: StoreKey) -> Bool {
    left.digest == right.digest && left.fullKey == right.fullKey
  }

  func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// 16 bytes, evenly spread, that stand for a longer key.
struct KeyDigest: Sendable, Hashable {
  let first: UInt64
  let second: UInt64

  init(_ words: (UInt64, UInt64)) { (first, second) = words }

  /// From a key of the database.
  init?(_ bytes: RawSpan) {
    guard bytes.byteCount == 16 else { return nil }
    first = bytes.integer(at: 0)
    second = bytes.integer(at: 8)
  }

  var recordKey: RecordKey { RecordKey(digest: first.littleEndian, second.littleEndian) }
  var checksumSeed: UInt64 { first ^ second }

  /// It is evenly spread already.
  func hash(into hasher: inout Hasher) { hasher.combine(first) }
}
