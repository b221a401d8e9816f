/// A lane's name as it stands in the store: the first 16 bytes of its SHA-256.
struct LaneKey: Hashable, Sendable {
  let first: UInt64
  let second: UInt64

  init(first: UInt64, second: UInt64) {
    self.first = first
    self.second = second
  }

  init(_ name: String) {
    var digest = SHA256()
    digest.update(Array(name.utf8).rawBytes)
    (first, second) = digest.firstWords
  }

  /// It is evenly spread already.
  func hash(into hasher: inout Hasher) { hasher.combine(first) }
}
