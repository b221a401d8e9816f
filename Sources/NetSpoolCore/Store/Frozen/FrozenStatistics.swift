/// What a frozen store holds and has done.
package struct FrozenStatistics: Sendable, Equatable {
  /// Requests that wait or are in flight, at the last commit.
  package var records = 0
  /// Bytes of the file in use, at the last commit.
  package var bytes = 0
  /// Outcomes and dead letters that went because nobody came for them, ever.
  package var dropped = 0
  /// Commits since it was opened, and the changes in them.
  package var commits = 0
  package var changes = 0
  /// Changes that a full disk keeps waiting.
  package var held = 0
  /// Times that the map had to grow.
  package var growths = 0
}
