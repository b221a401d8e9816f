/// What a cache store holds and has done since it was opened in this process.
package struct CacheStatistics: Sendable, Equatable {
  /// Of the store, all processes together, at the last commit of this one.
  package var entries = 0
  /// Bytes of the file in use.
  package var bytes = 0
  package var bytesMax = 0
  /// The file's length.
  package var fileBytes = 0

  package var hits = 0
  package var misses = 0
  /// Puts written.
  package var puts = 0
  package var evictions = 0
  /// Puts that were not stored: too large, too many waiting, no room, or the disk refused.
  package var dropped = 0
  /// Entries that were not what was written.
  package var damaged = 0
  package var commits = 0

  /// Bytes that wait to be written.
  package var pendingBytes = 0
  /// Bodies of the file lent at the moment.
  package var leases = 0
  /// Old states of the store that leases keep alive.
  package var snapshots = 0
}
