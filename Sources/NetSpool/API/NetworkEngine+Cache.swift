internal import Dispatch
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

  /// Removes everything that this engine's namespace holds. No engine of this process serves it from now on.
  ///
  /// Blocks until the disk knows, so that other processes do not serve it either, but for 5 s at most: where another process keeps
  /// the store, or its disk hangs, it is written as soon as it can be. A process that ends before that has not removed it. The same
  /// holds for `removeCached`. Without a cache it does nothing.
  public func emptyCache() {
    cache?.removeAll()
    driver.performEverywhere { $0.coalescer.fenceAll() }
  }

  /// Removes what is stored for a URL, in all its variants and credential scopes. Not served from now on; blocks until the disk
  /// has it, as `emptyCache()` does.
  public func removeCached(url: String) {
    cache?.remove(url: url)
    guard driver.isStarted, let pieces = try? URLParser.parse(url).pieces else { return }
    driver.performEverywhere { $0.coalescer.fence(pieces) }
  }

  /// The same for a path of this engine's host.
  public func removeCached(path: String) { removeCached(url: operation(path: path).request.url) }

  /// Removes what is stored for all URLs that begin so, in their normal form: lower-case scheme and host, no
  /// default port, `%7E` as `~` (RFC 3986 section 6.2.2). Not served from now on; blocks until the disk knows, as
  /// `emptyCache()` does. Many entries are taken out of it afterwards.
  public func removeCached(prefix: String) {
    cache?.remove(prefix: prefix)
    driver.performEverywhere { $0.coalescer.fenceAll() }
  }

  /// Removes what requests of this tag (`NetworkRequest.tag`) have stored, in all scopes. Not served from now on; blocks until the
  /// disk knows, as `emptyCache()` does. Many entries are taken out of it afterwards.
  public func removeCached(tag: String) {
    cache?.remove(tag: tag)
    driver.performEverywhere { $0.coalescer.fenceAll() }
  }

  /// Removes all that has come from its origin, or was confirmed by it, at least so long ago, in all scopes; zero or less: all. Not
  /// served from now on; blocks until the disk knows, as `emptyCache()` does. Many entries are taken out of it afterwards.
  public func removeCached(olderThan age: Duration) {
    guard let cache else { return }
    cache.remove(by: cache.settings.now() - age.microseconds / 1000)
    driver.performEverywhere { $0.coalescer.fenceAll() }
  }

  /// The contents and the work of the store; nil without a cache. Cheap.
  public var cacheStatistics: CacheStatistics? {
    cache?.statistics ?? (isCacheBusy.load(ordering: .relaxed) ? .busy : nil)
  }

  /// With a clock of its own, in milliseconds since 1970, for tests of lifetimes.
  package func useCache(
    _ configuration: CacheConfiguration, now: @escaping @Sendable () -> Int64
  ) throws(NetworkError) {
    if driver.isOfParent { throw NetworkError(.usedAfterFork) }
    do throws(NetworkError) { try openCache(configuration, now: now) } catch {
      if error.code == .storeBusy { useCacheLater(configuration, now: now) }
      throw error
    }
  }

  func openCache(
    _ configuration: CacheConfiguration, now: @escaping @Sendable () -> Int64
  ) throws(NetworkError) {
    try openingCache.withLock { _ throws(NetworkError) in
      if caching.object != nil { return }
      caching.publish(try configuration.open(for: self, now: now))
    }
  }

  /// Nil until `useCache`, and in a child of fork(2), where its locks may be held for ever.
  var cache: EngineCache? { driver.isOfParent ? nil : caching.object }
  /// Waits until the disk has all that was stored and removed so far, for 5 s at most. Not on the loop thread.
  public func flushCache() { cache?.store.flush() }

  /// Writes what waits and lets go of the store; afterwards nothing is found and nothing is stored. For programs
  /// that are about to exit, after the queue was closed. Not on the loop thread.
  public func closeCache() { cache?.store.close() }
}

/// What the settings of caches and of frozen requests have in common.
enum CacheOpening {
  /// 16 TiB: a store is mapped as a whole, and a process has 128 TiB of addresses.
  static let storeBytesMax = 1 << 44

  /// A single path component of plain characters.
  static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 64 && name != "." && name != ".."
      && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
  }

  /// The directory that was given, or one of this name in a folder of the user's, which an environment variable may name.
  static func directory(
    _ given: String?, named name: String, in base: String?, of variable: String
  ) throws(NetworkError) -> String {
    if let given {
      guard !given.isEmpty, !given.utf8.contains(0) else { throw .misconfigured("directory") }
      return given
    }
    guard let base else {
      throw NetworkError(.storeOpenFailed, reason: "neither \(variable) nor HOME is set")
    }
    return "\(base)/netspool/\(name)"
  }
}

/// From the settings to an open cache.
extension CacheConfiguration {
  fileprivate func open(
    for engine: NetworkEngine, now: @escaping @Sendable () -> Int64
  ) throws(NetworkError) -> EngineCache {
    let name = engine.configuration.storageName
    try check()
    var settings = CacheStoreSettings(
      directory: try CacheOpening.directory(
        directory, named: name, in: UserDirectories.cache, of: "XDG_CACHE_HOME"))
    settings.bytesMax = bytesMax
    settings.residentBytesMax = residentBytesMax
    settings.slack = slack
    settings.lookPatience *= Microseconds(slack)
    // Each engine has a limit of its own; the store's is that nothing larger can be in it.
    settings.bodyBytesMax = min(bytesMax, Self.bodyBytesMost)
    settings.match = EngineCache.match
    if let quota = namespaceBytesMax { settings.quotas[namespace] = quota }
    let store = try CacheStore.open(settings)
    let core = EngineCache.Settings(
      rules: rules, defaultPolicy: defaultPolicy, bodyBytesMax: min(bodyBytesMax, settings.bodyBytesMax),
      recentBytesMax: residentBytesMax ?? min(max(bytesMax / 64, 1 << 20), 16 << 20),
      coalescesAcrossProcesses: coalescesAcrossProcesses, namespace: namespace,
      scope: credentialScope?.unlessEmpty, fieldMeaning: engine.fieldMeaning, reach: engine.reach,
      egress: engine.configuration.egress, now: now)
    return EngineCache(
      store: store, settings: core, headers: engine.headers, account: engine.credential, jar: engine.jar)
  }

  /// Lengths are 32 bits long in a record.
  private static let bodyBytesMost = Int(UInt32.max)

  private func check() throws(NetworkError) {
    guard CacheOpening.isName(namespace) else { throw .misconfigured("namespace") }
    guard (1 << 20...CacheOpening.storeBytesMax).contains(bytesMax) else { throw .misconfigured("bytesMax") }
    guard bodyBytesMax >= 0 else { throw .misconfigured("bodyBytesMax") }
    if let namespaceBytesMax, namespaceBytesMax < 0 { throw .misconfigured("namespaceBytesMax") }
    if let residentBytesMax, residentBytesMax < 0 { throw .misconfigured("residentBytesMax") }
  }
}

/// A cache whose store another process kept when it was to be opened.
extension NetworkEngine {
  /// Tries again every 5 s for as long as the engine is there and the store is busy.
  func useCacheLater(_ configuration: CacheConfiguration, now: @escaping @Sendable () -> Int64) {
    isCacheBusy.store(true, ordering: .relaxed)
    Later.run(after: .seconds(5), on: Self.retries) { [weak self] in
      guard let self, !isClosed else { return }
      do throws(NetworkError) { try openCache(configuration, now: now) } catch {
        if error.code == .storeBusy { return useCacheLater(configuration, now: now) }
      }
      isCacheBusy.store(false, ordering: .relaxed)
    }
  }

  /// Opening may wait, so it has threads of its own.
  private static let retries = DispatchQueue(label: "netspool.cache-retries", attributes: .concurrent)
}
