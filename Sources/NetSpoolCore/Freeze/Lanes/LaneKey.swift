/// A lane's name as it stands in the store: the first 16 bytes of its SHA-256.
package struct LaneKey: Hashable, Sendable {
  package let first: UInt64
  package let second: UInt64

  package init(first: UInt64, second: UInt64) {
    self.first = first
    self.second = second
  }

  package init(_ name: String) {
    var digest = SHA256()
    digest.update(Array(name.utf8).rawBytes)
    (first, second) = digest.firstWords
  }

  /// It is evenly spread already.
  package func hash(into hasher: inout Hasher) { hasher.combine(first) }
}
