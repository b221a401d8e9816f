/// What a store holds, and what it did since this process opened it.
public struct CacheStatistics: Sendable {
  var core: CoreCacheStatistics
  init(_ core: CoreCacheStatistics) { self.core = core }

  /// Stored answers, all engines and processes together, as of the last write of this process.
  public var entries: Int { core.entries }
  /// Bytes of the file in use.
  public var bytes: Int { core.bytes }
  /// Bytes that may be in use; what was used longest ago goes first.
  public var bytesMax: Int { core.bytesMax }
  /// The file's length in bytes; it never shrinks.
  public var fileBytes: Int { core.fileBytes }
  /// Lookups that found something, fresh or not.
  public var hits: Int { core.hits }
  /// Lookups that found nothing.
  public var misses: Int { core.misses }
  /// Answers written.
  public var puts: Int { core.puts }
  /// Answers removed to make room.
  public var evictions: Int { core.evictions }
  /// Answers that were not stored: too large, no room, or the disk refused. No request fails for it.
  public var dropped: Int { core.dropped }
  /// Stored answers that were not what had been written; each was a miss and is removed.
  public var damaged: Int { core.damaged }
  /// Bytes that wait to be written.
  public var pendingBytes: Int { core.pendingBytes }
  /// Bodies lent to responses that are still held.
  public var leases: Int { core.leases }
}
