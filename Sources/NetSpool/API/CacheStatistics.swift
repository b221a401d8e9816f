/// What a store holds, and what it did since this process opened it.
public struct CacheStatistics: Sendable, Hashable {
  /// Stored answers, all engines and processes together, as of the last write of this process.
  public internal(set) var entries = 0
  /// Bytes of the file in use.
  public internal(set) var bytes = 0
  /// Bytes that may be in use; what was used longest ago goes first.
  public internal(set) var bytesMax = 0
  /// The file's length in bytes; it never shrinks.
  public internal(set) var fileBytes = 0
  /// Lookups that found something, fresh or not.
  public internal(set) var hits = 0
  /// Lookups that found nothing.
  public internal(set) var misses = 0
  /// Answers written.
  public internal(set) var puts = 0
  /// Answers removed to make room.
  public internal(set) var evictions = 0
  /// Answers that were not stored: too large, no room, or the disk refused. No request fails for it.
  public internal(set) var dropped = 0
  /// Stored answers that were not what had been written; each was a miss and is removed.
  public internal(set) var damaged = 0
  /// Bytes that wait to be written.
  public internal(set) var pendingBytes = 0
  /// Bodies lent to responses that are still held.
  public internal(set) var leases = 0
  var commits = 0
  /// Old states of the store that leases keep alive.
  var snapshots = 0
}
