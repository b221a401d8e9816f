/// What a store holds, and what it did since this process opened it.
public struct CacheStatistics: Sendable, Hashable {
  /// Whether the store can be written. Lookups find what is there in any case.
  public enum State: Sendable, Hashable {
    /// All is well.
    case open
    /// Another process keeps the store's lock, being slow or stopped; tried again every 5 s.
    case busy
    /// The disk is full or refuses; tried again every second.
    case failed
  }

  /// How the last attempt to write went.
  public internal(set) var state = State.open
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
  /// Of a store that another process keeps from being opened.
  static let busy = {
    var statistics = CacheStatistics()
    statistics.state = .busy
    return statistics
  }()
  /// Bytes of lent bodies that were copied out of the file because they are held for long, or were asked for as one
  /// piece; at most `CacheConfiguration.copiedBytesMax`.
  public internal(set) var copiedBytes = 0
  var commits = 0
  /// Old states of the store that leases keep alive.
  var snapshots = 0
}
