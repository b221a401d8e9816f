/// From the settings to an open store of frozen requests.
enum FreezeOpening {
  /// - Parameter host: the engine's origin; empty without one.
  static func open(
    _ configuration: FreezeConfiguration, name: String, host: String,
    now: (@Sendable () -> FrozenMoment)? = nil
  ) throws(NetworkError) -> EngineFreezing {
    try check(configuration)
    var settings = Freezer.Settings(
      store: FrozenStoreSettings(directory: try directory(configuration, name)))
    settings.store.bytesMax = configuration.bytesMax
    settings.store.recordsMax = configuration.requestsMax
    settings.limits.bodyBytesMax = configuration.bodyBytesMax
    settings.policy = configuration.policy
    if let now { settings.now = now }
    let freezer = try Freezer.shared(settings)
    return EngineFreezing(freezer, configuration, scope: configuration.fullScope(host: host))
  }

  private static func check(_ configuration: FreezeConfiguration) throws(NetworkError) {
    let numbers: [(String, Bool)] = [
      ("scope", configuration.scope.utf8.count <= 256),
      ("bytesMax", (1 << 20...CacheOpening.storeBytesMax).contains(configuration.bytesMax)),
      ("requestsMax", configuration.requestsMax > 0),
      (
        "bodyBytesMax",
        configuration.bodyBytesMax >= 0 && configuration.bodyBytesMax <= configuration.bytesMax / 2
      ),
      ("lifetime", configuration.lifetime > .zero && configuration.lifetime <= .longest),
      ("attemptsMax", (1...1_000_000).contains(configuration.attemptsMax)),
      ("crashesMax", (1...1_000_000).contains(configuration.crashesMax)),
      ("backoffBase", configuration.backoffBase >= .zero && configuration.backoffBase <= .seconds(1_000_000)),
      ("backoffMax", configuration.backoffMax >= .zero && configuration.backoffMax <= .seconds(1_000_000)),
      (
        "idempotencyWindow",
        configuration.idempotencyWindow >= .zero && configuration.idempotencyWindow <= .longest
      ),
    ]
    if let wrong = numbers.first(where: { !$0.1 }) { throw invalid(wrong.0) }
    guard let field = configuration.idempotencyKeyField else { return }
    do throws(NetworkError) { try HeaderRules.check(name: field, value: "") } catch {
      throw invalid("idempotencyKeyField")
    }
  }

  private static func directory(
    _ configuration: FreezeConfiguration, _ name: String
  ) throws(NetworkError) -> String {
    if let directory = configuration.directory {
      guard !directory.isEmpty, !directory.utf8.contains(0) else { throw invalid("directory") }
      return directory
    }
    guard CacheOpening.isName(name) else { throw invalid("storageName") }
    guard let base = UserDirectories.state else {
      throw NetworkError(.storeOpenFailed, reason: "neither XDG_STATE_HOME nor HOME is set")
    }
    return "\(base)/netspool/\(name)"
  }

  private static func invalid(_ option: String) -> NetworkError {
    NetworkError(.invalidConfiguration, reason: option)
  }
}

extension FreezeConfiguration {
  fileprivate var policy: FrozenPolicy {
    var policy = FrozenPolicy.standard
    policy.attemptsMax = UInt32(attemptsMax)
    policy.crashAttemptsMax = UInt32(crashesMax)
    policy.backoffBase = backoffBase.microseconds
    policy.backoffMax = backoffMax.microseconds
    policy.idempotencyWindow = idempotencyWindow.microseconds
    policy.statusesRepeated = repeatedStatuses
    policy.haltsLaneOnPoison = onPoison == .haltLane
    return policy
  }

  /// Whose requests these are.
  fileprivate func fullScope(host: String) -> String { scope.isEmpty ? host : "\(host)\n\(scope)" }
}
