internal import Synchronization

/// A request on its way: what to send, who hears of it, and how to stop it.
///
/// Made by an engine, enqueued once. It ends exactly once, whatever happens: `onCompletion` or `onError`
/// (cancelling is the error `.cancelled`). Handlers may be added at any time, several of each, also after the
/// end: a late one gets the final event, or the last of its own. They run on the engine's delivery target and are released after it.
/// The operation is kept alive while it is under way; there is no need to hold it.
///
/// Every setting of its request is one of its own as well, until it is enqueued: `operation.retry = .none`,
/// `operation.freezing.lane = "invoices"`.
///
/// Any thread may call anything here.
@dynamicMemberLookup
public final class NetworkOperation: @unchecked Sendable {
  // Safe because everything any thread may touch is in `shared`, under its lock, and `loop` is touched by the loop
  // thread only: whatever others call of `Scheduler`, and `move`, begins with `assertOnLoop`. It is a value that calls
  // nobody back.

  /// Unique in the process.
  public let id: UInt64
  let engine: NetworkEngine
  /// The loop that has it to its end, of several; see `place`.
  let loopNumber = Atomic(unplaced)
  /// The request as its engine made it; `request` is what became of it.
  let original: NetworkRequest
  let shared = Mutex(Shared())
  @safe @exclusivity(unchecked) var loop = LoopState()

  enum Count: Int, CaseIterable { case made }
  private static let counts = SharedCounts<Count>()

  init(_ request: NetworkRequest, engine: NetworkEngine) {
    id = Self.counts.next(.made)
    self.engine = engine
    original = request
  }

  /// A chain of operations that were never enqueued is taken apart one by one: recursion would need a stack
  /// as long.
  deinit {
    if !hasDependencies { return }
    var left = leaveDependencies()
    while var next = left.popLast() {
      if isKnownUniquelyReferenced(&next), next.hasDependencies { left += next.leaveDependencies() }
    }
  }

  /// The request as it stands; after enqueueing, as it is sent.
  public var request: NetworkRequest { shared.withLock { $0.changed?.request } ?? original }

  /// Its state.
  public var state: State { shared.withLock { $0.state } }

  /// The state of an operation.
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
    curlCommand(of: request, revealingSecrets: revealingSecrets)()
  }

  /// The command, made when it is asked for, without the operation.
  func curlCommand(of request: NetworkRequest, revealingSecrets: Bool = false) -> @Sendable () -> String {
    { [headers = engine.headers, credential = engine.credential, meaning = engine.fieldMeaning] in
      request.curlCommand(
        revealingSecrets: revealingSecrets, defaults: headers, engine: credential?.credential(for: request),
        redaction: Redaction(fields: meaning))
    }
  }
}

extension NetworkOperation: Hashable {
  /// The same operation, not an equal one.
  public static func == (a: NetworkOperation, b: NetworkOperation) -> Bool { a === b }
  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension NetworkOperation {
  /// An event of an operation, for `NetworkEngine.events(for:)`.
  public enum Event: Sendable {
    /// The operation has another state.
    case state(NetworkOperation.State)
    /// Bytes sent.
    case uploadProgress(TransferProgress)
    /// Bytes received.
    case downloadProgress(TransferProgress)
    /// The end; the last event.
    case finished(Result<NetworkResponse, NetworkError>)
  }
}

extension NetworkOperation {
  /// The answer: status 100 to 399, or whatever `validate` accepts.
  @discardableResult
  public func onCompletion(_ handler: @escaping @Sendable (NetworkResponse) -> Void) -> Self {
    add(.completion(handler))
    return self
  }

  /// The error, if it ends with one; a status of 400 or more is one, with the answer inside.
  @discardableResult
  public func onError(_ handler: @escaping @Sendable (NetworkError) -> Void) -> Self {
    add(.failure(handler))
    return self
  }

  /// Bytes of the request's body sent: at most ten times a second, and once at the end.
  @discardableResult
  public func onUploadProgress(_ handler: @escaping @Sendable (TransferProgress) -> Void) -> Self {
    add(.uploadProgress(handler))
    return self
  }

  /// Bytes of the answer's body received: at most ten times a second, and once at the end.
  @discardableResult
  public func onDownloadProgress(_ handler: @escaping @Sendable (TransferProgress) -> Void) -> Self {
    add(.downloadProgress(handler))
    return self
  }

  /// The origin said 304, or, with ``NetworkRequest/notifiesOnlyChanges``, what it sent is what the cache had. Comes before
  /// the completion, and is the last event where that is left out.
  @discardableResult
  public func onNotModified(_ handler: @escaping @Sendable () -> Void) -> Self {
    add(.notModified(handler))
    return self
  }

  /// Each informational answer (1xx) that comes before the final one, as `103 Early Hints` with its `Link` fields, in order
  /// and before the completion; of every exchange that the operation needs, redirects and repetitions included. Never
  /// called for an answer from the cache, nor for what had come when the handler was added or the operation joined
  /// an equal one (RFC 9110 section 15.2, RFC 8297).
  @discardableResult
  public func onInformational(_ handler: @escaping @Sendable (ResponseHead) -> Void) -> Self {
    add(.informational(handler))
    return self
  }

  /// Every change of state, in order. One that ends within `enqueue`, by a refusal or with what the cache has, tells its end alone.
  @discardableResult
  public func onStateChange(_ handler: @escaping @Sendable (State) -> Void) -> Self {
    add(.state(handler))
    return self
  }
}

extension NetworkOperation {
  /// Makes another operation for the same request, as it was before ``NetworkEngine/Configuration/prepare``: an operation
  /// runs once. Handlers and streams stay with the first.
  public func again() -> NetworkOperation { NetworkOperation(asked, engine: engine) }

  /// Ends it with `.cancelled`, unless it has ended. Its slot is free within 50 ms. Others that share its
  /// exchange are not disturbed. One that was never enqueued ends as well.
  public func cancel() { requestCancel() }

  /// Stops reading and frees the slot; before `enqueue`, behind others and between two attempts it keeps it from starting.
  /// An exchange that others wait for goes on for them; only where this one's streams have begun with it, for this one, too.
  /// The origin may give up on a long pause.
  public func pause() { if !hold(true) { perform { [self] in $0.pause(self) } } }

  /// Goes on where `pause` stopped, as soon as there is a slot.
  public func resume() { if !hold(false) { perform { [self] in $0.resume(self) } } }
}

/// The progress of a body. Reported at most ten times a second, and always once at the end. Where an attempt
/// is repeated it is reported again once it has come further than before.
public struct TransferProgress: Sendable, Hashable {
  /// Bytes so far.
  public internal(set) var done: Int64
  /// Bytes in all; nil when the length is not known.
  public internal(set) var total: Int64?
  /// Bytes a second since the start.
  public internal(set) var bytesPerSecond: Double

  /// 0 to 1; nil when the length is not known.
  public var fraction: Double? { total.map { $0 == 0 ? 1 : min(1, Double(done) / Double($0)) } }
}
