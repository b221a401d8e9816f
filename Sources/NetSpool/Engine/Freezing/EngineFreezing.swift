internal import Synchronization

/// What one engine has to do with frozen requests: where they are kept, and which of them are its own. Any thread.
final class EngineFreezing: Sendable {
  typealias ThawHandler = @Sendable (ThawedRequest) -> Void

  let freezer: Freezer
  /// What its user asked for; what concerns the whole store, the store's first user decided.
  let configuration: FreezeConfiguration
  /// The owner of the requests: the engine's host, and a name of the caller's.
  private let name: String
  /// The same with who would get them (`AnswerScope.Reach.lasting`): only an engine of the same scope sends them.
  let scope: String
  private let handlers = Mutex<[(tag: String?, body: ThawHandler)]>([])
  private let isEnded = Once()

  /// - Parameter freezer: fresh from `Freezer.shared`; left when the engine has ended or is gone.
  init(
    _ freezer: Freezer, _ configuration: FreezeConfiguration, name: String, within reach: AnswerScope.Reach
  ) {
    self.freezer = freezer
    self.configuration = configuration
    self.name = name
    scope = reach.lasting.isEmpty ? name : "\(name)\u{0}\(reach.lasting)"
  }

  /// Any of the same name, to be looked at and decided about.
  func owns(_ scope: String) -> Bool {
    if scope == self.scope || scope == name { return true }
    return scope.utf8.starts(with: name.utf8) && scope.utf8.dropFirst(name.utf8.count).first == 0
  }

  deinit { end() }

  /// The engine has no use for the store any more. Idempotent.
  func end() { if isEnded.first() { freezer.leave() } }

  /// Others may have the store still.
  var hasEnded: Bool { isEnded.isPast }

  var hasHandlers: Bool { handlers.withLock { !$0.isEmpty } }

  func add(_ tag: String?, _ body: @escaping ThawHandler) { handlers.withLock { $0.append((tag, body)) } }

  /// Returns the handlers for this tag; without one, those for any.
  func handlers(for tag: String?) -> [ThawHandler] {
    handlers.withLock { handlers in
      let exact = handlers.filter { $0.tag != nil && $0.tag == tag }
      return (exact.isEmpty ? handlers.filter { $0.tag == nil } : exact).map(\.body)
    }
  }
}

/// Looking at an engine's frozen requests, and deciding about them. Any thread.
extension EngineFreezing {
  var records: [(id: FrozenID, record: FrozenRecord)] {
    let now = freezer.settings.now()
    return ((try? freezer.store.records(at: now)) ?? []).filter { owns($0.record.request.scope) }
  }

  /// The time that the oldest has waited; 0 without one.
  var ageOfOldest: Microseconds {
    let now = freezer.settings.now()
    var oldest: FrozenRecord?
    try? freezer.store.scan { _, _, payload in
      oldest = FrozenRecord(decoding: payload, at: now).flatMap { owns($0.request.scope) ? $0 : nil }
      return oldest == nil
    }
    return oldest.map { max(0, $0.facts.age(at: now)) } ?? 0
  }

  var deadLetters: [(id: FrozenID, letter: DeadLetter)] {
    let letters = (try? freezer.store.deadLetters(at: freezer.settings.now())) ?? []
    return letters.filter { isOurs($0.letter) }
  }

  /// Nil when there is no such letter of this engine.
  private func letter(_ id: FrozenID) -> DeadLetter? {
    let ending = try? freezer.store.ending(.deadLetters, id.number)
    return ending.flatMap { DeadLetter($0, at: freezer.settings.now()) }.flatMap { isOurs($0) ? $0 : nil }
  }

  /// What cannot be read is everybody's.
  private func isOurs(_ letter: DeadLetter) -> Bool { letter.record.map { owns($0.request.scope) } ?? true }

  /// False when no such request of this engine waits.
  func cancel(_ id: FrozenID, for engine: NetworkEngine) -> Bool {
    guard let record = try? freezer.store.record(id, at: freezer.settings.now()), owns(record.request.scope)
    else { return false }
    return freezer.dispatch { sender in
      if sender.spool.cancel(id) { sender.owed[id] = engine }
    }
  }

  /// Calls back, on the freezer's thread, as soon as nothing of the store is being written or sent; at once when it is closed.
  func whenStill(_ done: @escaping @Sendable () -> Void) {
    if !freezer.dispatch({ $0.whenStill.append(done) }) { done() }
  }

  func thaw() { freezer.dispatch { $0.thaw() } }

  /// Throws `invalidRequest(letter)`.
  func revive(_ id: FrozenID, for engine: NetworkEngine) throws(NetworkError) {
    // The body of a cancelled request was not kept: no operation wants it.
    guard let letter = letter(id), letter.record != nil, letter.cause.reason != .cancelled else {
      throw NetworkError(.invalidRequest, reason: "letter")
    }
    freezer.dispatch { sender in
      sender.owed[id] = engine
      sender.spool.revive(id) { [unowned sender] _ in sender.owed[id] = nil }
    }
  }

  func discard(_ id: FrozenID, for engine: NetworkEngine) {
    guard letter(id) != nil else { return }
    freezer.dispatch { sender in
      sender.owed[id] = engine
      sender.spool.discard(id) { [unowned sender] in sender.owed[id] = nil }
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
  /// True if it may have been delivered before, by a process that ended while its handler ran.
  var mayBeRepeated: Bool

  /// The tag and the scope of the request.
  var labels: (tag: String?, scope: String?) {
    switch ending {
    case .outcome(let outcome): (outcome.tag, outcome.scope)
    case .dead(let letter): (letter.record?.request.tag, letter.record?.request.scope)
    }
  }
}

extension NetworkEngine {
  /// Makes sure that the request can be kept, and takes its body into memory: files may change. On the thread that
  /// enqueues. Opens the store with default settings if the engine has none yet.
  ///
  /// Throws `invalidRequest(streams, stream)`, `invalidConfiguration(lifetime)`, `bodyTooLarge`,
  /// `uploadSourceFailed`, and what opening a store throws.
  func prepareToFreeze(_ request: inout NetworkRequest, hasStreams: Bool) throws(NetworkError) {
    let method = request.method
    guard !method.isSafe else {
      log("\(method.name) is not frozen: it changes nothing, and can be asked again")
      request.isFreezable = false
      return
    }
    if hasStreams { throw NetworkError(.invalidRequest, reason: "streams") }
    if let lifetime = request.extra.freezing.lifetime, lifetime <= .zero || lifetime > .longest {
      throw .misconfigured("lifetime")
    }
    let freezing = try freezingOrDefault()
    request.extra.prepared = .bytes(
      try request.extra.prepared.bytes(atMost: freezing.freezer.settings.limits.bodyBytesMax))
  }

  /// Calls back with what becomes of requests whose operations ended with an earlier process; also now, for what is
  /// waiting to be told. Opens the store with default settings if the engine has none yet.
  func onThawed(tag: String?, _ handler: @escaping EngineFreezing.ThawHandler) throws(NetworkError) {
    let freezing = try freezingOrDefault()
    freezing.add(tag, handler)
    freezing.freezer.dispatch { [self] in $0.offerEndings(to: self) }
  }

  /// An exchange for a frozen request.
  func submitAttempt(_ operation: NetworkOperation) -> NetworkError? {
    isClosed ? NetworkError(.engineClosed) : driver.submit(operation, limit: .max)
  }
}
