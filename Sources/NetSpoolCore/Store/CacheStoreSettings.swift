/// Numbers of a cache store. Whoever opens a directory first in a process sets them for all.
package struct CacheStoreSettings: Sendable, Equatable {
  /// A directory of its own; made with permissions 0700 when it is missing.
  package var directory: String
  /// Bytes of the file in use at most; beyond, the least recently used entries go. 1 GiB.
  package var bytesMax = 1 << 30
  /// The file's length at most: what is in use, and what leases and other processes keep from being used
  /// again. A put that would pass it is dropped. 1.5 times `bytesMax` and 16 MiB unless set.
  package var fileBytesMax: Int?
  /// A longer body is not stored. 16 MiB.
  package var bodyBytesMax = 16 << 20
  /// What waits to be written at most; beyond, puts are dropped. 32 MiB.
  package var pendingBytesMax = 32 << 20
  /// What waits is much: whoever can, holds back (see `CacheStore.onRoom`). 16 MiB.
  package var pendingBytesMuch = 16 << 20
  /// Bytes of entries per namespace at most; none for those that are not named.
  package var quotas: [String: Int] = [:]
  /// How long a lease may keep old pages from being used again before its bytes are copied. 2 s.
  package var leaseMax: Microseconds = 2_000_000
  /// Snapshots at most that are kept for bodies whose place is pinned. 4.
  package var pinnedMax = 4
  /// Snapshots at most that leases keep; beyond, hits are copied. 64.
  package var snapshotsMax = 64
  /// A use is recorded when the last recorded one is longer ago. 60 s.
  package var recencyStep: Microseconds = 60_000_000
  /// Recorded uses are written after so long, or when there are 1,000. 5 s.
  package var recencyDelay: Microseconds = 5_000_000
  /// When given, the file's pages are dropped from this process's resident memory each time so many bytes
  /// were read or written; they stay in the system's page cache.
  package var residentBytesMax: Int?

  package init(directory: String) { self.directory = directory }

  var fileLimit: Int { fileBytesMax ?? bytesMax + bytesMax / 2 + 16 << 20 }

  var environment: EnvironmentSettings {
    EnvironmentSettings(
      directory: directory, layout: CacheDatabases.layout, isDisposable: true,
      mapBytes: max(16 << 30, 4 * bytesMax))
  }
}
