/// One request on its way: what to send, who hears of it, and how to stop it.
///
/// Made by an engine, enqueued once. It ends exactly once, whatever happens: `onCompletion` or `onError`
/// (cancelling is the error `.cancelled`). Handlers may be added at any time, several of each, also after the
/// end: a late one gets the final event. They run on the engine's delivery target and are released after it.
/// The operation is kept alive while it is under way; there is no need to hold it.
///
/// Any thread may call anything here.
public final class NetworkOperation: Sendable {
  let core: Operation
  init(_ core: Operation) { self.core = core }

  /// Unique in the process.
  public var id: UInt64 { core.id }

  /// The request as it stands; after enqueueing, as it is sent.
  public var request: NetworkRequest { NetworkRequest(core: core.request) }

  /// Where it is in its life.
  public var state: State { State(core.state) }

  /// Where an operation is in its life.
  public enum State: String, Sendable, Hashable {
    /// Not enqueued yet.
    case ready
    /// Waiting for a slot, for others, or for another attempt.
    case queued
    /// Being sent or answered.
    case executing
    /// Asking whether the cached answer still holds.
    case revalidating
    /// Stopped by `pause()`.
    case paused
    /// Kept on disk until it can be sent.
    case frozen
    /// Ended with an answer or an error.
    case finished
    /// Ended by `cancel()`.
    case cancelled

    init(_ core: Operation.State) {
      self =
        switch core {
        case .ready: .ready
        case .queued: .queued
        case .executing: .executing
        case .revalidating: .revalidating
        case .paused: .paused
        case .frozen: .frozen
        case .finished: .finished
        case .cancelled: .cancelled
        }
    }
  }
}

extension NetworkOperation: CustomStringConvertible {
  /// The curl command, secrets masked.
  public var description: String { curlCommand }

  /// The request, with the engine's fields, as a command to paste into a shell, secrets masked.
  public var curlCommand: String { curlCommand(revealingSecrets: false) }

  /// The request, with the engine's fields, as a command to paste into a shell. With secrets it is as secret
  /// as they are.
  public func curlCommand(revealingSecrets: Bool) -> String {
    core.request.curlCommand(
      revealingSecrets: revealingSecrets, defaults: core.context.headers, engine: core.engineCredential)
  }
}
