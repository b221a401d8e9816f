package import NetSpoolCore

/// What a cache holds and did; the counters are of this process.
public struct CacheStatistics: Sendable, Hashable {
  package var core: NetSpoolCore.CacheStatistics
  package init(_ core: NetSpoolCore.CacheStatistics) { self.core = core }
}
