/// From the settings to an open cache.
enum CacheOpening {
  static func open(
    _ configuration: CacheConfiguration, engine: NetworkEngine, now: @escaping @Sendable () -> Int64
  ) throws(NetworkError) -> EngineCache {
    let name = engine.configuration.storageName
    try check(configuration, name)
    var settings = CacheStoreSettings(directory: try directory(configuration, name))
    settings.bytesMax = configuration.bytesMax
    settings.residentBytesMax = configuration.residentBytesMax
    // What waits to be written is memory as well.
    if let resident = configuration.residentBytesMax {
      settings.pendingBytesMax = min(
        settings.pendingBytesMax, max(2 * min(resident, settings.pendingBytesMax), 4 << 20))
    }
    settings.bodyBytesMax = configuration.bodyBytesMax
    settings.copiedBytesMax = configuration.copiedBytesMax
    if let quota = configuration.namespaceBytesMax { settings.quotas[configuration.namespace] = quota }
    let store = try CacheStore.open(settings)
    var core = configuration.core
    core.now = now
    core.fieldMeaning = engine.fieldMeaning
    return EngineCache(store: store, settings: core, headers: engine.askedFields)
  }

  private static func check(_ configuration: CacheConfiguration, _ name: String) throws(NetworkError) {
    guard isName(name) else { throw invalid("storageName") }
    guard isName(configuration.namespace) else { throw invalid("namespace") }
    guard (1 << 20...storeBytesMax).contains(configuration.bytesMax) else { throw invalid("bytesMax") }
    guard configuration.bodyBytesMax >= 0, configuration.bodyBytesMax <= configuration.bytesMax else {
      throw invalid("bodyBytesMax")
    }
    guard configuration.copiedBytesMax >= 0 else { throw invalid("copiedBytesMax") }
    if let quota = configuration.namespaceBytesMax, quota < 0 { throw invalid("namespaceBytesMax") }
    if let resident = configuration.residentBytesMax, resident < 0 { throw invalid("residentBytesMax") }
  }

  /// 16 TiB: a store is mapped as a whole, and a process has 128 TiB of addresses.
  static let storeBytesMax = 1 << 44

  /// One path component of plain characters.
  static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 64 && name != "." && name != ".."
      && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
  }

  private static func directory(_ configuration: CacheConfiguration, _ name: String) throws(NetworkError)
    -> String
  {
    if let directory = configuration.directory {
      guard !directory.isEmpty, !directory.utf8.contains(0) else { throw invalid("directory") }
      return directory
    }
    guard let base = UserDirectories.cache else {
      throw NetworkError(.storeOpenFailed, reason: "neither XDG_CACHE_HOME nor HOME is set")
    }
    return "\(base)/netspool/\(name)"
  }

  private static func invalid(_ option: String) -> NetworkError {
    NetworkError(.invalidConfiguration, reason: option)
  }
}

extension CacheConfiguration {
  var core: EngineCache.Settings {
    var core = EngineCache.Settings()
    core.rules = rules
    core.defaultPolicy = defaultPolicy
    core.bodyBytesMax = bodyBytesMax
    core.namespace = namespace
    core.scope = credentialScope
    return core
  }
}
