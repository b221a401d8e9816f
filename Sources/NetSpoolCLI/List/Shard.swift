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

  static let whole = Shard(index: 0, count: 1)!
  static let countMax = 1_000_000

  init?(index: Int, count: Int) {
    guard (1...Self.countMax).contains(count), (0..<count).contains(index) else { return nil }
    (self.index, self.count) = (index, count)
  }

  /// `I/N`, as in `0/4` to `3/4`.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let index = Self.number(parts[0]), let count = Self.number(parts[1]) else {
      return nil
    }
    self.init(index: index, count: count)
  }

  /// Digits only: `Int` would also take a sign.
  static func number(_ text: some StringProtocol) -> Int? {
    text.utf8.allSatisfy { $0 &- 0x30 < 10 } ? Int(text) : nil
  }

  func contains(_ url: String) -> Bool { count == 1 || Self.hash(url) % UInt64(count) == UInt64(index) }

  static func hash(_ url: String) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in url.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
    hash = (hash ^ hash >> 33) &* 0xc4ce_b9fe_1a85_ec53
    return hash ^ hash >> 33
  }

  /// The shard that a cluster's scheduler assigns, so that a job array needs no option, and the variable that gave the index.
  ///
  /// Reads `JOB_COMPLETION_INDEX` (Kubernetes Indexed Jobs) or `SLURM_ARRAY_TASK_ID`, with the number of
  /// shards from `NETSPOOL_SHARDS`, for Slurm else from `SLURM_ARRAY_TASK_COUNT`.
  ///
  /// Both indices count from 0 (`--array=0-7`). Nil when nothing assigns a shard: `NETSPOOL_SHARDS` unset
  /// on Kubernetes means that the pods share nothing.
  static func assigned(_ environment: Environment) throws(Mistake) -> (shard: Shard, origin: String)? {
    let shards = environment["NETSPOOL_SHARDS"].map { ("NETSPOOL_SHARDS", $0) }
    if let index = environment["JOB_COMPLETION_INDEX"] {
      guard let shards else { return nil }
      return try assignment(("JOB_COMPLETION_INDEX", index), of: shards)
    }
    let tasks = environment["SLURM_ARRAY_TASK_COUNT"].map { ("SLURM_ARRAY_TASK_COUNT", $0) }
    if let index = environment["SLURM_ARRAY_TASK_ID"], let shards = shards ?? tasks {
      return try assignment(("SLURM_ARRAY_TASK_ID", index), of: shards)
    }
    guard let shards else { return nil }
    throw Mistake(
      "\(shards.0) is set but neither JOB_COMPLETION_INDEX nor SLURM_ARRAY_TASK_ID is: "
        + "say which shard this is with --shard I/\(shards.1)")
  }

  private static func assignment(
    _ index: (name: String, value: String), of count: (name: String, value: String)
  ) throws(Mistake) -> (shard: Shard, origin: String) {
    guard let shard = Shard("\(index.value)/\(count.value)") else {
      throw Mistake(
        "\(index.name)=\(index.value) with \(count.name)=\(count.value) is no shard: indices "
          + "run from 0 to one less than the count; set --shard I/N by hand")
    }
    return (shard, index.name)
  }
}
