internal import Synchronization

/// A question to a store, and its answer: nothing, as long as there is none.
final class CacheFinding {
  enum Purpose {
    case request(then: Unanswered, Claim?)
    /// An older answer may be given instead of how the exchange has ended.
    case standIn(Ending)
  }

  fileprivate let cache: EngineCache
  fileprivate let question: CacheQuestion
  fileprivate let purpose: Purpose
  fileprivate var look = LoopLook(held: nil)

  fileprivate init(_ cache: EngineCache, _ question: CacheQuestion, _ purpose: Purpose) {
    (self.cache, self.question, self.purpose) = (cache, question, purpose)
  }
}

/// The cache before the network: what is held, or whom to wait for who asks the same. Loop thread.
final class CacheSide {
  private let context: LoopContext
  let bridge = CacheBridge()
  let validations: Validations
  let claims: Claims
  /// The renewals under way, by what they renew. What stands here may have ended.
  private var renewals: [RenewalKey: Renewal] = [:]
  private var renewalsMax = 64

  private struct RenewalKey: Hashable {
    let store: ObjectIdentifier
    let key: KeyDigest

    init(_ cache: EngineCache, _ question: CacheQuestion, _ look: LoopLook) {
      store = ObjectIdentifier(cache.store)
      key = look.held?.key.digest ?? question.primaryKey.digest
    }
  }

  private struct Renewal {
    weak var operation: NetworkOperation?
  }

  init(_ context: LoopContext) {
    self.context = context
    validations = Validations(context)
    claims = Claims(context)
  }

  /// Answers with what is held, or refuses what may not be asked; else it goes on.
  ///
  /// - Parameter claim: another has asked for the same just now, and its answer may be there; it is this one's turn to ask.
  func consult(
    _ operation: NetworkOperation, _ request: NetworkRequest, then next: Unanswered, after claim: Claim?
  ) -> Step {
    if operation.loop.cacheUse != nil { validations.release(operation) }
    operation.loop.cacheUse = nil
    let known = operation.engine.cache
    guard let cache = known, let asked = bridge.asked(operation, request, cache) else {
      // Most engines have none: nothing is held then, nor for what no cache may answer.
      let policy = request.cachePolicy ?? known?.settings.defaultPolicy
      return policy == .onlyIfCached ? .fail(NetworkError(.notCached)) : next.step
    }
    let question = asked.question
    if let found = cache.stillFound(asked) {
      let look = LoopLook(held: found.held.first)
      let consultation = bridge.consult(operation, cache, question, look)
      return step(
        after: consultation, about: RenewalKey(cache, question, look), operation, request, next)
    }
    let isFirst = operation.loop.history?.asksWhatItSays(request) ?? true
    return look(CacheFinding(cache, question, .request(then: next, claim))) {
      cache.look(for: question, request, isFirst: isFirst)
    }
  }

  /// Goes on with what was found.
  func step(_ operation: NetworkOperation, after finding: CacheFinding) -> Step {
    let (cache, question, look) = (finding.cache, finding.question, finding.look)
    switch finding.purpose {
    case .request(let next, let claim):
      let consultation = bridge.consult(operation, cache, question, look)
      // What is stored is news for others, too; else it claims once more when its turn has come.
      if case .answer = consultation { claim?.finish() } else { claim?.release() }
      let key = RenewalKey(cache, question, look)
      return operation.withSent { step(after: consultation, about: key, operation, $0, next) }
    case .standIn(let ending):
      guard let held = look.held, let answer = bridge.answer(operation, question, held, look.parts, cache)
      else { return .end(ending) }
      return .answer(answer)
    }
  }

  /// Ends with an older answer instead of a failure, if that has not been removed, and no other has taken its place.
  func answer(_ operation: NetworkOperation, _ standIn: HeldAnswer, or ending: Ending) -> Step {
    guard let use = operation.loop.cacheUse else { return .end(ending) }
    let (cache, question) = (use.cache, use.question)
    return look(CacheFinding(cache, question, .standIn(ending))) {
      cache.isHeld(standIn) ? cache.look(at: standIn, for: question) : LoopLook(held: nil)
    }
  }

  private func step(
    after consultation: CacheBridge.Consultation, about key: RenewalKey, _ operation: NetworkOperation,
    _ request: NetworkRequest, _ next: Unanswered
  ) -> Step {
    switch consultation {
    case .ask(let use):
      operation.loop.cacheUse = use
      if let use, let wait = validations.wait(for: operation, use) { return .wait(wait) }
    case .provide(let use):
      operation.loop.cacheUse = use
      if let early = use.early { for recipient in operation.recipients { provide(recipient, early) } }
    case .answer(let response, let renews):
      if renews { refresh(request, operation.engine, key) }
      return .answer(response)
    case .refuse(let failure): return .fail(failure)
    }
    return next.step
  }

  /// Looks into the store, on a thread that may wait for the disk (`StoreLooker`), and goes on with what was found: without,
  /// when the disk takes its time.
  private func look(_ finding: CacheFinding, _ find: @escaping @Sendable () -> LoopLook) -> Step {
    if context.loop.timeline != nil {
      finding.look = find()  // a model has one thread
      return .found(finding)
    }
    let store = finding.cache.store
    let wait = Wait(.look, then: .found(finding), atMost: UInt64(store.settings.lookPatience / 1_000))
    let (port, heard, waiting) = (context.port, LoopReference(finding), LoopReference(wait))
    let isTaken = store.look {
      let found = find()
      port.perform { _ in
        heard.object?.look = found
        waiting.object?.goOn()
      }
    }
    return isTaken ? .wait(wait) : .found(finding)
  }

  /// Keeps what goes to streams, for the cache and for those that come late. In the middle of libcurl's work, before the streams
  /// are opened.
  func spool(_ use: CacheUse, _ transfer: Transfer, _ fanout: SinkFanout, at place: BodySpool.Place) {
    guard let spool = bridge.spool(use, transfer, at: place) else {
      use.claim?.giveUp()
      return
    }
    fanout.add(spool, id: 0) { _ in }  // nobody's own, and it never fails
    transfer.exchange.spool = spool
  }

  /// Once for each, however many exchanges follow; streams get one body, the final one.
  func provide(_ recipient: NetworkOperation, _ early: NetworkResponse) {
    guard recipient.loop.extras?.provided == nil, !recipient.hasStreams else { return }
    recipient.makeExtras().provided = early.body
    context.tell(recipient, .provisional(early))
  }

  /// Brings a stored answer up to date, for no caller in particular; once, however many are given it meanwhile.
  private func refresh(_ request: NetworkRequest, _ engine: NetworkEngine, _ key: RenewalKey) {
    guard !engine.isClosed, renewals[key]?.operation == nil else { return }
    let refresh = NetworkOperation(request, engine: engine)
    if renewals.count >= renewalsMax {
      renewals = renewals.filter { $1.operation != nil }
      renewalsMax = max(64, 2 * renewals.count)
    }
    renewals[key] = Renewal(operation: refresh)
    refresh.loop.isRefresh = true
    refresh.onError { _ in }  // nobody asked, so nobody hears of it
    // Through the mailbox: where a redirect has led here, its own origin is another loop's.
    _ = engine.driver.submit(refresh, limit: .max)
  }
}
