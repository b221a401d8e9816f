import Glibc
import NetSpool

/// An open store of frozen requests, with the engine that sends them.
///
/// The engine has no host: so all requests are its own, whatever they are for, and no call of `netspool` leaves
/// anything that another one does not find.
final class FrozenHold {
  let directory: String
  let engine: NetworkEngine

  /// - Parameter console: hears of a damaged store; nil keeps quiet.
  /// Throws `FrozenFailure`, and `NetworkError` for settings that the library refuses.
  init(_ settings: FrozenSettings, _ console: Console?) throws {
    directory = settings.directory
    var configuration = NetworkEngine.Configuration()
    configuration.queue = try NetworkQueue()
    let timeout = Duration.seconds(settings.timeoutSeconds)
    configuration.timeouts.total = timeout
    configuration.timeouts.headers = min(timeout, configuration.timeouts.headers)
    configuration.timeouts.connect = min(timeout, configuration.timeouts.connect)
    engine = try NetworkEngine(configuration: configuration)
    do throws(FrozenFailure) {
      try open(settings)
    } catch {
      engine.configuration.queue.close()
      throw error
    }
    if case .damaged(let why, let file?) = engine.frozenStoreFinding {
      console?.message(
        "netspool: the frozen store in \(directory) was damaged (\(why)): what is left of it is in "
          + "\(directory)/\(file), and an empty one takes its place")
    }
  }

  private func open(_ settings: FrozenSettings) throws(FrozenFailure) {
    let deadline = ContinuousClock.now + .seconds(settings.patience)
    while true {
      do throws(NetworkError) {
        return try engine.useFreezing(settings.freezing)
      } catch {
        guard error.code == .storeInUse, ContinuousClock.now < deadline else {
          throw FrozenFailure(directory, error)
        }
        // There is nothing to be woken by: the lock is another process's.
        usleep(Self.retryMicroseconds)
      }
    }
  }

  private static let retryMicroseconds: UInt32 = 20_000
  /// More than any disk should take.
  private static let writeSeconds = 30.0

  /// Waits until everything that was asked for is on the disk. For an engine that sends nothing.
  func settle() { engine.settleFrozen(deadline: Self.writeSeconds) }

  /// Lets what is being sent end, for so long, and lets go of the store. Everybody has been told when this returns.
  func close(seconds: Double = 0) {
    engine.shutDownAndWait(deadline: .seconds(seconds))
    engine.configuration.queue.close()
  }
}
