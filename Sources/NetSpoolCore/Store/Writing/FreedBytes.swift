/// How much each recent commit set free: as long as a snapshot from before it lives, that much of the file
/// cannot be used again.
struct FreedBytes {
  private static let commitsMax = 4_096
  private var commits: [(commit: UInt64, bytes: Int)] = []

  mutating func add(_ bytes: Int, at commit: UInt64) {
    guard bytes > 0 else { return }
    if commits.count >= Self.commitsMax { commits.removeFirst(Self.commitsMax / 2) }
    commits.append((commit, bytes))
  }

  /// What commits after the given one have set free.
  func bytes(since commit: UInt64) -> Int {
    guard commit != .max else { return 0 }
    return commits.reversed().prefix { $0.commit > commit }.reduce(0) { $0 + $1.bytes }
  }
}
