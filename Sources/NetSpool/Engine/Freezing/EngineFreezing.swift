internal import Synchronization

/// What one engine has to do with frozen requests: where they are kept, and which of them are its own. Any thread.
final class EngineFreezing: Sendable {
  struct Settings: Sendable {
    /// Whose requests these are: only an engine of the same scope sends them.
    var scope = ""
    /// When one expires. 7 days.
    var lifetime = Duration.seconds(7 * 86_400)
    /// The field that carries the key; empty: none does.
    var keyField = IdempotencyKey.fieldName
    /// Whether one of this engine's requests may be sent now; nil: all may. On the freezer's thread, before anything is
    /// written. What may not waits, its lane with it, for `thaw`.
    var maySend: (@Sendable (FrozenID, FrozenRecord) -> Bool)?
    /// The values of fields that are never written down, asked for before each attempt, on the delivery target.
    var secrets: (@Sendable (FrozenID, FrozenRecord) -> Headers)?

    init() {}
  }

  typealias ThawHandler = @Sendable (ThawedRequest) -> Void

  let freezer: Freezer
  let settings: Settings
  private let handlers = Mutex<[(tag: String?, body: ThawHandler)]>([])
  private let isEnded = Once()

  /// - Parameter freezer: fresh from `Freezer.shared`; left when the engine has ended or is gone.
  init(_ freezer: Freezer, _ settings: Settings) {
    self.freezer = freezer
    self.settings = settings
  }

  deinit { end() }

  /// The engine has no use for the store any more. Idempotent.
  func end() { if isEnded.first() { freezer.leave() } }

  var hasHandlers: Bool { handlers.withLock { !$0.isEmpty } }

  func add(_ tag: String?, _ body: @escaping ThawHandler) { handlers.withLock { $0.append((tag, body)) } }

  /// Those for this tag; without one, those for any.
  func handlers(for tag: String?) -> [ThawHandler] {
    handlers.withLock { handlers in
      let exact = handlers.filter { $0.tag != nil && $0.tag == tag }
      return (exact.isEmpty ? handlers.filter { $0.tag == nil } : exact).map(\.body)
    }
  }
}

/// What became of a request whose operation is no more.
struct ThawedRequest: Sendable {
  enum Ending: Sendable {
    case outcome(FrozenOutcome)
    case dead(DeadLetter)
  }

  var id: FrozenID
  var ending: Ending
  /// It may have been told before, by a process that ended while its handler ran.
  var mayBeRepeated: Bool

  var tag: String? {
    switch ending {
    case .outcome(let outcome): outcome.tag
    case .dead(let letter): letter.record?.request.tag
    }
  }

  var scope: String? {
    switch ending {
    case .outcome(let outcome): outcome.scope
    case .dead(let letter): letter.record?.request.scope
    }
  }
}
