/// Numbers of a cache store. Whoever opens a directory first in a process sets them for all.
struct CacheStoreSettings: Sendable, Equatable {
  /// A directory of its own; made with permissions 0700 when it is missing.
  var directory: String
  /// Bytes of the file in use at most; beyond, the least recently used entries go. 1 GiB.
  var bytesMax = 1 << 30
  /// The file's length at most: what is in use, and what leases and other processes keep from being used
  /// again. A put that would pass it is dropped. 1.5 times `bytesMax` and 16 MiB unless set.
  var fileBytesMax: Int?
  /// A longer body is not stored. 16 MiB.
  var bodyBytesMax = 16 << 20
  /// What waits to be written at most; beyond, puts are dropped. 32 MiB.
  var pendingBytesMax = 32 << 20
  /// What waits is much: whoever can, holds back (see `CacheStore.onRoom`). 16 MiB.
  var pendingBytesMuch = 16 << 20
  /// Bytes of entries per namespace at most; none for those that are not named.
  var quotas: [String: Int] = [:]
  /// How long a lease may keep old pages from being used again before its bytes are copied. 2 s.
  var leaseMax: Microseconds = 2_000_000
  /// Snapshots at most that are kept for bodies whose place is pinned. 4.
  var pinnedMax = 4
  /// Snapshots at most that leases keep; beyond, hits are copied. 64.
  var snapshotsMax = 64
  /// A use is recorded when the last recorded one is longer ago. 60 s.
  var recencyStep: Microseconds = 60_000_000
  /// Recorded uses are written after so long, or when there are 1,000. 5 s.
  var recencyDelay: Microseconds = 5_000_000
  /// When given, the file's pages are dropped from this process's resident memory each time so many bytes
  /// were read or written; they stay in the system's page cache.
  var residentBytesMax: Int?

  init(directory: String) { self.directory = directory }

  var fileLimit: Int { fileBytesMax ?? bytesMax + bytesMax / 2 + 16 << 20 }

  var environment: EnvironmentSettings {
    EnvironmentSettings(
      directory: directory, layout: CacheDatabases.layout, isDisposable: true,
      mapBytes: max(16 << 30, 4 * bytesMax))
  }
}
