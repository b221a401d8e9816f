/// From the settings to an open store of frozen requests.
enum FreezeOpening {
  /// - Parameter host: the engine's origin; empty without one.
  static func open(
    _ configuration: FreezeConfiguration, name: String, host: String, driver: QueueDriver,
    now: (@Sendable () -> FrozenMoment)? = nil
  ) throws(Failure) -> EngineFreezing {
    try check(configuration)
    var settings = Freezer.Settings(
      store: FrozenStoreSettings(directory: try directory(configuration, name)))
    settings.store.bytesMax = configuration.bytesMax
    settings.store.recordsMax = configuration.requestsMax
    settings.limits.bodyBytesMax = configuration.bodyBytesMax
    settings.policy = configuration.policy
    if let now { settings.now = now }
    let freezer = try Freezer.shared(settings, driver: driver)
    return EngineFreezing(freezer, configuration.core(host: host))
  }

  private static func check(_ configuration: FreezeConfiguration) throws(Failure) {
    let numbers: [(String, Bool)] = [
      ("scope", configuration.scope.utf8.count <= 256),
      ("bytesMax", configuration.bytesMax >= 1 << 20),
      ("requestsMax", configuration.requestsMax > 0),
      ("bodyBytesMax", (0...configuration.bytesMax / 2).contains(configuration.bodyBytesMax)),
      ("lifetime", configuration.lifetime > 0 && configuration.lifetime <= 1e9),
      ("attemptsMax", (1...1_000_000).contains(configuration.attemptsMax)),
      ("crashesMax", (1...1_000_000).contains(configuration.crashesMax)),
      ("backoffBase", configuration.backoffBase >= 0 && configuration.backoffBase <= 1e6),
      ("backoffMax", configuration.backoffMax >= 0 && configuration.backoffMax <= 1e6),
      ("idempotencyWindow", configuration.idempotencyWindow >= 0 && configuration.idempotencyWindow <= 1e9),
    ]
    if let wrong = numbers.first(where: { !$0.1 }) { throw invalid(wrong.0) }
    guard let field = configuration.idempotencyKeyField else { return }
    do throws(Failure) { try HeaderRules.check(name: field, value: "") } catch {
      throw invalid("idempotencyKeyField")
    }
  }

  private static func directory(
    _ configuration: FreezeConfiguration, _ name: String
  ) throws(Failure) -> String {
    if let directory = configuration.directory {
      guard !directory.isEmpty, !directory.utf8.contains(0) else { throw invalid("directory") }
      return directory
    }
    guard CacheOpening.isName(name) else { throw invalid("storageName") }
    guard let base = UserDirectories.state else {
      throw Failure(.storeOpenFailed, reason: "neither XDG_STATE_HOME nor HOME is set")
    }
    return "\(base)/netspool/\(name)"
  }

  private static func invalid(_ option: String) -> Failure { Failure(.invalidConfiguration, reason: option) }
}

extension FreezeConfiguration {
  fileprivate var policy: FrozenPolicy {
    var policy = FrozenPolicy.standard
    policy.attemptsMax = UInt32(attemptsMax)
    policy.crashAttemptsMax = UInt32(crashesMax)
    policy.backoffBase = Microseconds(backoffBase * 1e6)
    policy.backoffMax = Microseconds(backoffMax * 1e6)
    policy.idempotencyWindow = Microseconds(idempotencyWindow * 1e6)
    policy.statusesRepeated = repeatedStatuses
    policy.haltsLaneOnPoison = onPoison == .haltLane
    return policy
  }

  fileprivate func core(host: String) -> EngineFreezing.Settings {
    var core = EngineFreezing.Settings()
    core.scope = scope.isEmpty ? host : "\(host)\n\(scope)"
    core.lifetime = lifetime
    core.keyField = idempotencyKeyField ?? ""
    if let maySend { core.maySend = { id, record in maySend(FrozenOperation(id, record)) } }
    if let secrets { core.secrets = { id, record in secrets(FrozenOperation(id, record)).core } }
    return core
  }
}
