/// What a cache store holds and has done since it was opened in this process.
struct CoreCacheStatistics: Sendable, Equatable {
  /// Of the store, all processes together, at the last commit of this one.
  var entries = 0
  /// Bytes of the file in use.
  var bytes = 0
  var bytesMax = 0
  /// The file's length.
  var fileBytes = 0

  var hits = 0
  var misses = 0
  /// Puts written.
  var puts = 0
  var evictions = 0
  /// Puts that were not stored: too large, too many waiting, no room, or the disk refused.
  var dropped = 0
  /// Entries that were not what was written.
  var damaged = 0
  var commits = 0

  /// Bytes that wait to be written.
  var pendingBytes = 0
  /// Bodies of the file lent at the moment.
  var leases = 0
  /// Old states of the store that leases keep alive.
  var snapshots = 0
}
