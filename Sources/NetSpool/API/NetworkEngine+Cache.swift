internal import Synchronization

/// Caching: one call turns it on.
extension NetworkEngine {
  /// Stores what may be stored and answers from it what may be answered (RFC 9111), for every GET and HEAD of
  /// this engine from now on. Once; a second call changes nothing and throws nothing.
  ///
  /// Throws `.invalidConfiguration`; `.storeOpenFailed` for a directory that cannot be used, with the reason; never
  /// silently off. `.storeBusy` when another process has kept the store's lock for 5 s: then requests go on without a
  /// cache, and it is tried again every 5 s, as `cacheStatistics` tells. A damaged store is put aside and a fresh one
  /// begins.
  public func useCache(_ configuration: CacheConfiguration = .init()) throws(NetworkError) {
    try useCache(configuration, now: { WallClock.milliseconds })
  }

  /// Removes everything that this engine's namespace holds. What is removed is not served again once this
  /// returns. Without a cache it does nothing. Blocks for as long as the store takes.
  public func emptyCache() { cache?.removeAll() }

  /// Removes what is stored for a URL, in all its variants and credential scopes. What is removed is not served
  /// again once this returns. Blocks: it looks at every entry of the namespace.
  public func removeCached(url: String) { cache?.remove(url: url) }

  /// Removes what is stored for all URLs that begin so, in their normal form: lower-case scheme and host, no
  /// default port, `%7E` as `~` (RFC 3986 section 6.2.2). Blocks: it looks at every entry of the namespace.
  public func removeCached(prefix: String) { cache?.remove(prefix: prefix) }

  /// What the store holds and did; nil without a cache. Cheap.
  public var cacheStatistics: CacheStatistics? {
    cache?.store.statistics ?? (isCacheBusy.load(ordering: .relaxed) ? .busy : nil)
  }
}

extension NetworkEngine {
  /// With a clock of its own, in milliseconds since 1970, for tests of lifetimes.
  package func useCache(
    _ configuration: CacheConfiguration, now: @escaping @Sendable () -> Int64
  ) throws(NetworkError) {
    do throws(NetworkError) {
      try openCache(configuration, now: now)
    } catch {
      if error.code == .storeBusy { useCacheLater(configuration, now: now) }
      throw error
    }
  }

  func openCache(
    _ configuration: CacheConfiguration, now: @escaping @Sendable () -> Int64
  ) throws(NetworkError) {
    try caching.withLock { cache throws(NetworkError) in
      if cache == nil { cache = try CacheOpening.open(configuration, engine: self, now: now) }
    }
    hasCache.store(true, ordering: .releasing)
  }

  /// Nil until `useCache`.
  var cache: EngineCache? {
    hasCache.load(ordering: .acquiring) ? caching.withLock { $0 } : nil
  }
}
