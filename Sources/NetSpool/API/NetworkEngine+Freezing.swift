internal import Dispatch
internal import Synchronization

/// Freezing: a request that was accepted is sent, whatever becomes of the network, the server and this process.
extension NetworkEngine {
  /// Opens the store of frozen requests and sends what an earlier process left for this engine. Called with defaults when
  /// the first freezable operation is enqueued; call it at the start of a program that may have left something.
  /// Once; a second call changes nothing and throws nothing.
  ///
  /// Throws `.invalidConfiguration`; `.storeInUse` when another process has the store, with its number; `.storeOpenFailed`
  /// for a directory that cannot be used. Of a damaged store what is whole goes on in a fresh one: see
  /// `FreezeConfiguration.onDamage`.
  public func useFreezing(_ configuration: FreezeConfiguration = .init()) throws(NetworkError) {
    try useFreezing(configuration, now: nil)
  }

  /// Calls back, on the delivery target, with what became of frozen requests whose operations are no more: those of earlier
  /// processes. An answer is kept until a handler for its tag has returned, 7 days at most; it comes again when
  /// the process ends before that (`mayBeRepeated`). Handlers live as long as the engine.
  ///
  /// Opens the store with defaults if `useFreezing` was not called, whose settings then come too late; throws what that throws.
  /// - Parameters:
  ///   - tag: of the requests; nil: of all that no handler of their own tag takes.
  ///   - handler: gets each outcome.
  public func onThawed(
    tag: String? = nil, _ handler: @escaping @Sendable (ThawedOutcome) -> Void
  ) throws(NetworkError) {
    try onThawed(tag: tag) { handler(ThawedOutcome($0)) }
  }

  /// This engine's requests that wait or are being sent, in the order in which they were accepted. Any thread; reads
  /// the store. Empty without one.
  public var frozenOperations: [FrozenOperation] {
    (openFreezing?.records ?? []).map { [scope = freezing?.scope] in
      FrozenOperation($0.id, $0.record, within: scope)
    }
  }

  /// Gives a frozen request up: it becomes a dead letter without its body, and its operation, if there is one, ends with
  /// `.cancelled`. When it is being sent, the origin may act on it all the same. ``frozenOperations`` and ``deadLetters`` show it
  /// as soon as the disk knows, for which ``shutDown(deadline:)`` waits.
  ///
  /// - Returns: false when no such request of this engine waits.
  @discardableResult
  public func cancelFrozen(id: UInt64) -> Bool { openFreezing?.cancel(FrozenID(id), for: self) ?? false }

  /// Sends what waits for the network, for an engine or a queue, gently: lane by lane within two seconds, eight at
  /// once. A wait that the server caused goes on. There is no need for it: a network that comes back is noticed.
  public func thaw() { freezing?.thaw() }

  /// This engine's requests that will not be sent any more, the oldest first. Any thread; reads the store.
  public var deadLetters: [FrozenDeadLetter] {
    (openFreezing?.deadLetters ?? []).map { FrozenDeadLetter($0.id, $0.letter) }
  }

  /// Has a dead letter sent after all, with its old key and a new lifetime. Its outcome goes to `onThawed`.
  ///
  /// Throws `.invalidRequest` when there is none of this number, or its body is gone.
  public func revive(id: UInt64) throws(NetworkError) {
    guard let freezing = openFreezing else { throw NetworkError(.invalidRequest, reason: "letter") }
    try freezing.revive(FrozenID(id), for: self)
  }

  /// Forgets a dead letter, and lets its lane go on if it was halted.
  public func discardDeadLetter(id: UInt64) { openFreezing?.discard(FrozenID(id), for: self) }

  private var openFreezing: EngineFreezing? { freezing?.hasEnded == false ? freezing : nil }

  /// With a clock of its own, for tests of what takes days.
  func useFreezing(
    _ configuration: FreezeConfiguration, now: (@Sendable () -> ClockMoment)?
  ) throws(NetworkError) {
    if driver.isOfParent { throw NetworkError(.usedAfterFork) }
    let opened = try freezes.withLock { freezing throws(NetworkError) -> EngineFreezing? in
      if freezing != nil { return nil }
      if isClosed { throw NetworkError(.engineClosed) }
      refusedFreezing.withLock { $0 = configuration }
      freezing = try configuration.open(
        named: self.configuration.storageName, host: home?.text ?? "", within: reach, now: now)
      return freezing
    }
    guard let freezer = opened?.freezer else { return }
    // First: a queue that ends now must know whom to tell.
    driver.remember(freezer)
    freezer.dispatch { [self] in $0.add(self) }
    #if Metrics
    metrics.lookSoon(self)
    #endif
    guard freezer.isNew.first(), let damage = FrozenStoreDamage(freezer.store) else { return }
    deliverLate { [self] in
      if let tell = configuration.onDamage { return tell(damage) }
      self.configuration.onUnhandledFailure?(damage.failure)
    }
  }

  /// Nil until `useFreezing`, or until the first operation is frozen.
  var freezing: EngineFreezing? { freezes.withLock { $0 } }

  func freezingOrDefault() throws(NetworkError) -> EngineFreezing {
    if let freezing { return freezing }
    // No other store than the one that was named.
    try useFreezing(refusedFreezing.withLock { $0 } ?? .init())
    guard let freezing else { throw NetworkError(.engineClosed) }
    return freezing
  }
}

/// Frozen requests for programs that show a store to people.
extension NetworkEngine {
  /// Blocks until nothing of the store is being written or sent, or the deadline has passed. Not on a delivery target.
  @discardableResult
  package func flushFrozen(deadline seconds: Double) -> Bool {
    guard let freezing = freezing else { return true }
    let done = DispatchSemaphore(value: 0)
    freezing.whenStill { done.signal() }
    return done.wait(timeout: .now() + seconds) == .success
  }

  /// The contents of the store's directory when it was opened. Nil without a store.
  package var frozenStoreFinding: FrozenStoreFinding? {
    freezing.map { FrozenStoreFinding($0.freezer.store.opening.found) }
  }
}

/// The contents of a directory of frozen requests.
package enum FrozenStoreFinding: Sendable, Hashable {
  case nothing
  case whole
  /// No store, or a damaged one. `movedTo`: its name in the directory once it was put aside.
  case damaged(why: String, movedTo: String?)

  init(_ core: EnvironmentOpening.Found) {
    switch core {
    case .nothing: self = .nothing
    case .whole, .inUse, .outdated: self = .whole
    case .damaged(let movedTo, let why): self = .damaged(why: why, movedTo: movedTo.isEmpty ? nil : movedTo)
    }
  }

  /// Looks without changing anything. The directory must be there; throws what opening it would.
  package static func inspect(_ directory: String) throws(NetworkError) -> FrozenStoreFinding {
    FrozenStoreFinding(try FrozenStore.inspect(FrozenStoreSettings(directory: directory)))
  }
}

/// A store of frozen requests that was not what had been written when it was opened. Nothing that was
/// accepted is deleted: whole requests go on, and the rest is kept.
public struct FrozenStoreDamage: Sendable, Hashable {
  /// The damage of the file; nil when only single requests were damaged.
  public let reason: String?
  /// The path to which the file was moved; nil when only single requests were damaged. It is never removed.
  public let movedTo: String?
  /// The number of requests, outcomes and dead letters that were whole in that file, and are in the new
  /// store.
  public let salvaged: Int
  /// The numbers of requests whose bytes were not what was written: dead letters now (`.storeCorrupt`).
  public let damaged: [UInt64]

  /// Nil when the store was whole.
  init?(_ store: FrozenStore) {
    damaged = store.damaged
    salvaged = store.salvaged.found
    if case .damaged(let name, let why) = store.opening.found {
      reason = why
      movedTo = "\(store.settings.directory)/\(name)"
    } else {
      (reason, movedTo) = (nil, nil)
      if damaged.isEmpty { return nil }
    }
  }

  /// The report for an engine without `onDamage`.
  var failure: NetworkError {
    let text = movedTo.map { "\(reason ?? "damage"), moved to \($0), \(salvaged) whole" }
    return NetworkError(.storeCorrupt, reason: text ?? "\(damaged.count) requests")
  }
}
