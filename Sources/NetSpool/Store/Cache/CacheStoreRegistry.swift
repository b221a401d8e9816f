internal import Glibc
internal import Synchronization

/// The cache stores of the process: one per environment, however many callers opened it.
final class CacheStoreRegistry: Sendable {
  static let shared = CacheStoreRegistry()

  private let entries = Mutex<[ObjectIdentifier: (core: CacheStoreCore, users: Int)]>([:])
  /// By environment: to start or to stop a core may take long, and concerns no other environment.
  private let turns = KeyedLock<ObjectIdentifier>()

  func core(_ settings: CacheStoreSettings) throws(NetworkError) -> CacheStoreCore {
    let environment = try Environment.open(settings.environment)
    return try turns.withLock(ObjectIdentifier(environment)) { () throws(NetworkError) in
      if let core = joined(environment) {
        core.add(quotas: settings.quotas)
        return core
      }
      let core = try Self.start(environment, settings)
      Self.settlesAtExit
      entries.withLock { $0[ObjectIdentifier(environment)] = (core, 1) }
      return core
    }
  }

  /// The core that is at work already, with one user more.
  private func joined(_ environment: Environment) -> CacheStoreCore? {
    let core = entries.withLock { entries -> CacheStoreCore? in
      entries[ObjectIdentifier(environment)]?.users += 1
      return entries[ObjectIdentifier(environment)]?.core
    }
    if core != nil { environment.drop() }
    return core
  }

  /// The core holds the environment from then on.
  private static func start(
    _ environment: Environment, _ settings: CacheStoreSettings
  ) throws(NetworkError) -> CacheStoreCore {
    do {
      let core = try CacheStoreCore(environment, settings)
      try core.start()
      return core
    } catch {
      environment.drop()
      throw error
    }
  }

  func release(_ core: CacheStoreCore) {
    guard core.environment.isOurs else { return }
    turns.withLock(ObjectIdentifier(core.environment)) {
      guard isLast(core) else { return }
      core.stop()
      entries.withLock { $0[ObjectIdentifier(core.environment)] = nil }
      core.environment.drop()
    }
  }

  /// Waits until all that was put before the call is written, also in stores that are being closed, until a
  /// moment at most.
  private func settle(until deadline: Microseconds) {
    let now = MonotonicClock.now
    let cores = entries.withLock { $0.values.map { $0.core } }
    for core in cores {
      while core.isWriting(whatCameBefore: now), MonotonicClock.now < deadline { usleep(500) }
    }
  }

  private static let settlesAtExit: Void = ExitGate.beforeClosing { shared.settle(until: $0) }

  /// Counts one user less. True when there is none left.
  private func isLast(_ core: CacheStoreCore) -> Bool {
    entries.withLock { entries in
      let identifier = ObjectIdentifier(core.environment)
      guard entries[identifier]?.core === core else { return false }
      entries[identifier]?.users -= 1
      return entries[identifier]?.users == 0
    }
  }
}
