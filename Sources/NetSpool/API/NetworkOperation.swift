internal import Synchronization

/// One request on its way: what to send, who hears of it, and how to stop it.
///
/// Made by an engine, enqueued once. It ends exactly once, whatever happens: `onCompletion` or `onError`
/// (cancelling is the error `.cancelled`). Handlers may be added at any time, several of each, also after the
/// end: a late one gets the final event. They run on the engine's delivery target and are released after it.
/// The operation is kept alive while it is under way; there is no need to hold it.
///
/// Any thread may call anything here.
public final class NetworkOperation: @unchecked Sendable {
  // Safe because everything any thread may touch is in `shared`, under its lock, and `loop` is touched by the
  // loop thread only: every path to it starts with `assertOnLoop`.

  /// Unique in the process.
  public let id: UInt64
  let engine: NetworkEngine
  let shared: Mutex<Shared>
  var loop = LoopState()

  private static let lastID = Atomic<UInt64>(0)

  init(_ request: NetworkRequest, engine: NetworkEngine) {
    id = Self.lastID.add(1, ordering: .relaxed).newValue
    self.engine = engine
    shared = Mutex(Shared(request: request))
  }

  /// The request as it stands; after enqueueing, as it is sent.
  public var request: NetworkRequest { shared.withLock { $0.request } }

  /// Where it is in its life.
  public var state: State { shared.withLock { $0.state } }

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
    request.curlCommand(
      revealingSecrets: revealingSecrets, defaults: engine.headers, engine: engineCredential,
      redaction: Redaction(fields: engine.fieldMeaning))
  }
}

extension NetworkOperation: Hashable {
  /// The same operation, not an equal one.
  public static func == (a: NetworkOperation, b: NetworkOperation) -> Bool { a === b }
  /// By identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
