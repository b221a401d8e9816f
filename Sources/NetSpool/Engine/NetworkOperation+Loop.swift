internal import Synchronization

// What an operation is made of: what the user holds (any thread, under a lock) and what the loop knows of it.
extension NetworkOperation {
  /// How an operation ends.
  enum Outcome: Sendable {
    case success(NetworkResponse)
    case failure(NetworkError)
    /// Its request stays on the disk and is the store's from now on: neither a success nor a failure.
    case handedOver

    /// For callers that wait for one of two.
    var result: Result<NetworkResponse, NetworkError> {
      switch self {
      case .success(let response): .success(response)
      case .failure(let failure): .failure(failure)
      case .handedOver: .failure(NetworkError(.engineClosed, cause: .frozen))
      }
    }
  }

  typealias Conclusion = @Sendable (Result<NetworkResponse, NetworkError>) -> Void
  typealias Demand = @Sendable (NetworkRequest, NetworkResponse) -> NetworkError?

  /// What any thread may look at, under the lock.
  struct Shared: Sendable {
    /// What has become of the request; nil: nothing.
    var changed: Change?
    var state = State.ready
    var handlers = Handlers()
    var outcome: Outcome?
    /// What the thread that enqueued would have asked the cache; until the loop does.
    var asked: [AskedCache] = []
    var isDelivered = false
    /// Whatever its status says: a DELETE of what is gone has done its work.
    var isSuccess = false
    /// Others wait for it.
    var hasDependents = false
    /// It was cancelled when it had been enqueued, which is its loop's to do.
    var isCalledOff = false
    /// True if the completions that were there for the provisional answer have been called for an equal one already.
    var isRepetition = false
    /// When it was enqueued, if its engine wants to know at its end.
    var enqueuedAt: Microseconds = 0
    /// What few operations have is in one box. An array of none or one is the standard library's own copy-on-write box.
    private var rares: [Rare] = []

    /// It has none of that.
    var isPlain: Bool { rares.isEmpty }

    /// Its users have been told that it is frozen.
    var hasTicket: Bool { !isPlain && rare.ticket != nil }

    /// What the cache has may end it without the loop.
    var mayEndAtOnce: Bool {
      outcome == nil && !isCalledOff && (isPlain || rare.failure == nil && rare.mayEndAtOnce)
    }

    /// Lent, and changed in place: an operation may have a hundred thousand dependencies.
    var rare: Rare {
      _read { if isPlain { yield Rare.nothing } else { yield rares[0] } }
      _modify {
        if isPlain { rares.append(Rare()) }
        yield &rares[0]
      }
    }

    /// Nothing is to be done at its end but to resume what waits for it.
    var isAwaited: Bool { handlers.isAwaitedAlone && (isPlain || rare.demand == nil) }
  }

  /// What few operations have.
  struct Rare: Sendable {
    fileprivate static let nothing = Rare()

    /// Of making it: delivered when it is enqueued.
    var failure: NetworkError?
    var streams: [StreamAttachment] = []
    var dependencies: [NetworkOperation] = []
    /// Paused before the queue knew it.
    var isHeld = false
    /// Its users were told this when its request was on the disk. Without the operation, which would hold itself.
    var ticket: FrozenTicket?
    /// What its answer must be besides a success.
    var demand: Demand?
    /// For an attempt to send a frozen request: told on the loop, instead of any user, how it ended.
    var onConclusion: Conclusion?
    #if Tracing
    var trace: OperationTrace?
    #endif

    var mayEndAtOnce: Bool { streams.isEmpty && dependencies.isEmpty && !isHeld }
  }

  /// What the loop knows of it.
  struct LoopState {
    var phase = Phase.ready
    /// When the queue heard of it: later than of any before.
    var submittedAt: Microseconds = 0
    /// When it came to share another's exchange.
    var joinedAt: Microseconds = 0
    /// Its neighbours in the table of all operations.
    var previous: NetworkOperation?
    var next: NetworkOperation?
    /// What was sent in place of its first request; nil: that itself.
    var change: Change?
    /// What has its exchange: from the slot to the end, also while it is paused and waits for its next slot.
    var transfer: Transfer?
    var history: ExchangeHistory?
    /// What the cache has to do with the next exchange, or the one under way.
    var cacheUse: CacheUse?
    var origin: Origin? {
      didSet {
        guard isListed else { return }
        oldValue?.users -= 1
        origin?.users += 1
      }
    }
    /// Under which equal requests find it; 0: they do not.
    var sharingKey: UInt64 = 0
    /// Nil while it only waits.
    var extras: Extras?
    /// Its wait for a place, while it waits for its turn.
    var placeWait: BudgetCounter.Wait = -1
    /// Among all operations of its loop, and so one of its origin's users.
    var isListed = false { didSet { origin?.users += isListed ? 1 : -1 } }
    /// Its own user has left; it goes on for the operations that share its exchange.
    var isDetached = false
    /// Its user has left for a while only.
    var absence = Absence.none
    /// None can be added once the queue has it.
    var hasStreams = false
    var hasSinks = false
    /// True if no caller waits for it: it brings a stored answer up to date.
    var isRefresh = false
    /// True if it has waited for another's question to the origin, and does not do so again.
    var hasAwaitedValidation = false
    /// True if it has waited for another process's question, which came to nothing, and does not do so again.
    var hasAwaitedClaim = false
    /// True if it was cancelled before the queue knew it.
    var isCancelledEarly = false
    /// True if it was paused before it came into the queue.
    var isHeld = false
    /// Its user has been told that it is frozen.
    var isFrozen = false
    /// The highest of those that wait for it, when it was queued.
    var priority = NetworkRequest.Priority.normal

    var waiters: [NetworkOperation] { extras?.waiters ?? [] }
    var waitersLeft: Int { extras?.waitersLeft ?? 0 }
  }

  /// What the user of a leader wants while the exchange is for others.
  enum Absence { case none, paused, returning }

  /// What an operation has that shares its answer, streams it, plays it from the cache or is frozen: in one box, because
  /// a million that wait have none of it.
  final class Extras {
    /// Equal requests that get this one's answer, and those that have left.
    var waiters: [NetworkOperation] = []
    /// The number of waiters that have not left.
    var waitersLeft = 0
    var fanout: SinkFanout?
    /// Why the name of its origin has no addresses, for the exchange that is about to begin.
    var nameFailure: NetworkError?
    /// The body of one that came late and has no streams.
    var lateBody: MemorySink?
    /// The stored body that its user has been given before the final answer.
    var provided: ResponseBytes?
    /// What the stores have still to do for its answer, before its user hears of it.
    var unwritten: [StoreDuty] = []
    /// What the answer to a POST says of its target.
    var posted: PostedAnswer?
    var sinkFailure: NetworkError?
  }

  /// Loop thread.
  func makeExtras() -> Extras {
    if let extras = loop.extras { return extras }
    let extras = Extras()
    loop.extras = extras
    return extras
  }
}

extension NetworkOperation {
  /// True if it sends a frozen request, for no caller.
  var isAttempt: Bool { shared.withLock { $0.rare.onConclusion != nil } }

  func onConclusion(_ body: @escaping Conclusion) { shared.withLock { $0.rare.onConclusion = body } }

  var outcome: Outcome? { shared.withLock { $0.isDelivered ? $0.outcome : nil } }

  /// Notes that it can never be sent; said when it is enqueued.
  func fail(_ failure: NetworkError) {
    shared.withLock { shared in
      if shared.rare.failure == nil { shared.rare.failure = failure }
    }
  }

  /// Any answer that the closure finds fault with ends it with that failure; on the delivery target.
  func demand(_ check: @escaping Demand) { shared.withLock { $0.rare.demand = check } }

  /// True if it will get the body: not once the operation has been enqueued.
  @discardableResult
  func attach(_ stream: StreamAttachment) -> Bool {
    shared.withLock { shared in
      guard shared.state == .ready else { return false }
      shared.rare.streams.append(stream)
      return true
    }
  }
}

// MARK: On its way

extension NetworkOperation {
  /// Any thread: makes the request what will be sent and hands it to the queue. Once; later calls do nothing, and
  /// return false.
  @discardableResult
  func enqueue() -> Bool {
    guard let begun = beginEnqueue() else { return false }
    enqueue(begun)
    return true
  }

  private func enqueue(_ begun: consuming Beginning) {
    // In a child of fork(2) whatever lock another thread of the parent had is held for ever: nothing else is touched.
    if engine.driver.isOfParent { return refuse(NetworkError(.usedAfterFork).about(original.url)) }
    do throws(NetworkError) {
      if let flaw = begun.flaw { throw flaw }
      if begun.change == nil, staysAsIs(original), begun.streams.allSatisfy({ $0.part == nil }) {
        try original.checkFields()
        try engine.checkSigning(of: original)
        return submit(original, hasStreams: !begun.streams.isEmpty)
      }
    } catch {
      return refuse(error.about(begun.change?.request.url ?? original.url))
    }
    enqueue(changing: begun.change?.request ?? original, begun.streams)
  }

  private func enqueue(changing asked: NetworkRequest, _ streams: [StreamAttachment]) {
    var ready = asked
    do throws(NetworkError) {
      try engine.prepare(&ready)
      try ready.makeReady()
      for part in streams.compactMap(\.part) { part.ask(&ready, forRest: part === streams.part) }
      if ready.hasExtras, ready.extra.resumes { try ready.checkFields() }
      try ready.compressBody()
      try engine.checkSigning(of: ready)
      if ready.isFreezable { try engine.prepareToFreeze(&ready, hasStreams: !streams.isEmpty) }
    } catch {
      return refuse(error.about(asked.url))
    }
    shared.withLock { [ready] shared in
      shared.change(original, asked: asked) { request in
        let priority = request.priority  // which somebody may have changed meanwhile
        request = ready
        request.priority = priority
      }
    }
    submit(ready, hasStreams: !streams.isEmpty)
  }

  private func submit(_ ready: NetworkRequest, hasStreams: Bool) {
    beginTrace(ready)
    // Beyond what its engine's closures may have before them the loop looks, when it has room.
    if let cache = engine.cache, engine.roomToDeliver > 0 || shared.withLock({ $0.isAwaited }) {
      switch cache.look(for: ready, answering: !hasStreams) {
      case .answer(let response): if finish(response, from: cache) { return }
      case .asked(let asked): shared.withLock { $0.asked = asked }
      case .nothing: break
      }
    }
    if let failure = engine.submit(self) { refuse(failure.about(ready.url)) }
  }

  private struct Beginning: ~Copyable {
    var change: Change?
    var streams: [StreamAttachment] = []
    var flaw: NetworkError?
  }

  private func beginEnqueue() -> Beginning? {
    shared.withLock { shared in
      guard shared.state == .ready, shared.outcome == nil else { return nil }
      shared.state = .queued
      if engine.observesEnds { shared.enqueuedAt = MonotonicClock.now }
      if shared.isPlain { return Beginning(change: shared.changed) }
      return Beginning(change: shared.changed, streams: shared.rare.streams, flaw: shared.rare.failure)
    }
  }

  /// Any thread: false when it has been enqueued, and its loop is to be told.
  func hold(_ isHeld: Bool) -> Bool {
    shared.withLock { shared in
      guard shared.state == .ready || shared.state == .queued, shared.outcome == nil else { return false }
      if isHeld || !shared.isPlain { shared.rare.isHeld = isHeld }
      return shared.state == .ready
    }
  }

  /// Any thread.
  func requestCancel() {
    let wasReady = end(with: .failure(NetworkError(.cancelled))) { shared in
      shared.isCalledOff = true
      return shared.state == .ready
    }
    if !wasReady { engine.driver.cancel(self) }
  }
}

extension NetworkError {
  /// With the URL it is about, without secrets.
  func about(_ url: String) -> NetworkError {
    var failure = self
    if failure.url == nil { failure.url = url }
    return failure
  }
}
