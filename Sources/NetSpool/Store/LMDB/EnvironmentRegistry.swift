internal import Glibc
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
  /// By directory: to open or to close one may take long, for another process or for the disk, and concerns no other.
  private let turns = KeyedLock<Key>()

  /// The environment of a directory, opened now or before; held once more.
  func environment(_ settings: EnvironmentSettings) throws(NetworkError) -> Environment {
    let directory = try EnvironmentDirectory(settings)
    return try turns.withLock(Self.key(directory.identity)) { () throws(NetworkError) in
      if let environment = try joined(directory, settings) { return environment }
      let environment = try EnvironmentOpener(directory: directory, settings: settings).open()
      open.withLock { $0[Self.key(environment.identity)] = environment }
      return environment
    }
  }

  private static func key(_ identity: FileIdentity) -> Key {
    Key(identity: identity, generation: ForkGuard.begin())
  }

  /// The one that is open already, held once more.
  private func joined(
    _ directory: EnvironmentDirectory, _ settings: EnvironmentSettings
  ) throws(NetworkError) -> Environment? {
    guard let identity = directory.dataStatus()?.identity else { return nil }
    return try open.withLock { open throws(NetworkError) in
      guard let environment = open[Self.key(identity)] else { return nil }
      if environment.settings.layout != settings.layout { throw NetworkError(.storeInUse, cause: .layout) }
      environment.retain()
      return environment
    }
  }

  /// Runs `close` while no caller can open it; it answers whether the environment is closed.
  func closing(_ environment: Environment, _ close: () -> Bool) {
    turns.withLock(Self.key(environment.directory.identity)) {
      if close() { open.withLock { $0[Self.key(environment.identity)] = nil } }
    }
  }
}

extension Environment {
  /// Opens the environment of a directory, or joins it when this process has it open already; the settings
  /// of the first caller stay in force. The caller holds it and must `drop()` it.
  ///
  /// Throws `storeOpenFailed(reason)`, `storeInUse(pid)`, `storeBusy`, `storageFull` or `tooManyOpenFiles`.
  static func open(_ settings: EnvironmentSettings) throws(NetworkError) -> Environment {
    try EnvironmentRegistry.shared.environment(settings)
  }
}

/// How an environment is opened. Nothing here knows what is kept in it.
struct EnvironmentSettings: Sendable, Equatable {
  /// A directory of its own. Made when missing, with permissions 0700.
  var directory: String
  /// What the records look like. A directory with a newer layout is refused and left as it is, one with an
  /// older layout begins afresh when it is disposable.
  var layout: UInt32
  /// True: written without waiting for the disk, and thrown away when the machine went down in between.
  /// False: every commit is on the disk when it returns.
  var isDisposable: Bool
  /// No other process beside this one.
  var isExclusive = false
  /// Address space for the file: an upper limit of its size that costs nothing until it is used. Halved
  /// until the system grants it, but not below `mapBytesMin`.
  var mapBytes = 16 << 30
  var mapBytesMin: Int = 64 << 20
  var databasesMax: UInt32 = 8
  /// Read transactions at once, all processes together.
  var readersMax: UInt32 = 1_022
  /// How long another process that is just opening or closing is waited for.
  var patience: Microseconds = 5_000_000
}
