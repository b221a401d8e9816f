/// What a frozen store holds and has done.
struct FrozenStatistics: Sendable, Equatable {
  /// Requests that wait or are in flight, at the last commit.
  var records = 0
  /// Bytes of the file in use, at the last commit.
  var bytes = 0
  /// Outcomes and dead letters that went because nobody came for them, ever.
  var dropped = 0
  /// Commits since it was opened, and the changes in them.
  var commits = 0
  var changes = 0
  /// Changes that a full disk keeps waiting.
  var held = 0
  /// Times that the map had to grow.
  var growths = 0
}
