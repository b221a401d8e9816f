internal import Synchronization

/// All open environments of the process, by file.
///
/// A second open of a file in one process would succeed, and its close would drop the first one's locks
/// (fcntl(2)): other processes would then reuse pages that are still being read.
final class EnvironmentRegistry: Sendable {
  static let shared = EnvironmentRegistry()

  private struct Key: Hashable {
    let identity: FileIdentity
    /// An environment of the parent process is none of ours.
    let generation: Int
  }

  private let open = Mutex<[Key: Environment]>([:])

  /// The environment of a directory, opened now or before; held once more.
  func environment(_ settings: EnvironmentSettings) throws(NetworkError) -> Environment {
    try open.withLock { open throws(NetworkError) in
      let place = try EnvironmentPlace(settings)
      let generation = ForkGuard.generation
      if let identity = place.dataStatus()?.identity,
        let environment = open[Key(identity: identity, generation: generation)]
      {
        try environment.checkJoining(settings)
        environment.hold()
        return environment
      }
      let environment = try EnvironmentOpener(place: place, settings: settings).open()
      open[Key(identity: environment.identity, generation: generation)] = environment
      return environment
    }
  }

  /// Runs `close` while nobody can open; it answers whether the environment is closed.
  func closing(_ environment: Environment, _ close: () -> Bool) {
    open.withLock { open in
      guard close() else { return }
      open[Key(identity: environment.identity, generation: ForkGuard.generation)] = nil
    }
  }
}

extension Environment {
  /// Opens the environment of a directory, or joins it when this process has it open already; the settings
  /// of whoever came first stay in force. The caller holds it and must `drop()` it.
  ///
  /// Throws `storeOpenFailed(reason)`, `storeInUse(pid)`, `storeBusy`, `storageFull` or `tooManyOpenFiles`.
  static func open(_ settings: EnvironmentSettings) throws(NetworkError) -> Environment {
    try EnvironmentRegistry.shared.environment(settings)
  }

  fileprivate func checkJoining(_ settings: EnvironmentSettings) throws(NetworkError) {
    if settings.layout != self.settings.layout { throw NetworkError(.storeInUse, reason: "layout") }
  }
}
