/// Which part of the list is this machine's: shard `index` of `count`, counted from 0.
///
/// A line belongs to shard `hash(URL) mod count`. The hash is 64-bit FNV-1a over the URL's bytes as they
/// stand in the list, finished with MurmurHash3's `fmix64` so that every bit counts. In Python:
///
///     def shard(url, count, m=2**64 - 1):
///         h = 0xcbf29ce484222325
///         for b in url.encode(): h = (h ^ b) * 0x100000001b3 & m
///         h = (h ^ h >> 33) * 0xff51afd7ed558ccd & m
///         h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53 & m
///         return (h ^ h >> 33) % count
///
/// The answer depends on nothing else, so shards are disjoint, together complete, and the same tomorrow.
struct Shard: Equatable, Sendable {
  let index: Int
  let count: Int

  static let whole = Shard(index: 0, count: 1, unchecked: ())
  /// The largest number of shards.
  static let countMax = 1_000_000

  init?(index: Int, count: Int) {
    guard (1...Self.countMax).contains(count), (0..<count).contains(index) else { return nil }
    self.init(index: index, count: count, unchecked: ())
  }

  /// `I/N`, as in `0/4` to `3/4`.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let index = Self.number(parts[0]), let count = Self.number(parts[1]) else {
      return nil
    }
    self.init(index: index, count: count)
  }

  private init(index: Int, count: Int, unchecked: Void) {
    self.index = index
    self.count = count
  }

  /// Digits only: `Int` would also take a sign.
  static func number(_ text: some StringProtocol) -> Int? {
    text.utf8.allSatisfy { $0 &- 0x30 < 10 } ? Int(text) : nil
  }

  func contains(_ url: String) -> Bool {
    count == 1 || Self.hash(url) % UInt64(count) == UInt64(index)
  }

  static func hash(_ url: String) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in url.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
    hash = (hash ^ hash >> 33) &* 0xc4ce_b9fe_1a85_ec53
    return hash ^ hash >> 33
  }
}
