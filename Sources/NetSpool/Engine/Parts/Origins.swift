internal import Synchronization

/// The origins of a loop: where URLs lead, how wide each origin is, what that learns, and when it wants quiet. Loop thread.
final class Origins {
  /// Origins that are remembered though nothing is asked of them, on all loops.
  static let kept = 1024

  private var byText: [String: Origin] = [:]
  private var spellings: [String: Origin] = [:]
  private var latest: (spelling: String, origin: Origin)?
  /// Origins that have asked other loops for quiet and are not known here: until when.
  private var quietElsewhere: [String: Microseconds] = [:]
  /// With so many, those that are idle are forgotten.
  private var countMax: Int { didSet { context.port.loop.originsMax.store(countMax, ordering: .relaxed) } }
  private var isRetiring = false
  /// A timer has the idle ones looked for.
  private var isLookDue = false
  /// Of widths this loop's part.
  private(set) var settings: NetworkQueue.Configuration
  /// Only `byLink` must know it.
  var link = NetworkQueue.Sizing.Link.local {
    didSet {
      for origin in all where origin.sizing.link != link {
        origin.sizing.link = link
        updateLimit(of: origin, now: MonotonicClock.now)
      }
    }
  }
  private let context: LoopContext

  init(_ context: LoopContext) {
    self.context = context
    countMax = context.port.loop.originsMax.load(ordering: .relaxed)
    settings = context.port.driver.settings.withLock { $0 }.part(of: context.port.driver.loops.count)
  }

  var all: some Collection<Origin> { byText.values }

  /// Finds the origin of a URL, and its pieces when they had to be looked at; the authority of each spelling is judged by
  /// `URLParser` once.
  func find(_ url: String) throws(NetworkError) -> (origin: Origin, canonical: ParsedURL?) {
    if let latest, PlainURL.goesOn(url, from: latest.spelling) { return (latest.origin, nil) }
    let length = PlainURL.originLength(url)
    if let length, let origin = known(url, length) { return (origin, nil) }
    let parsed = try URLParser.parse(url)
    let origin = byText[parsed.pieces.origin.text] ?? make(parsed.pieces.origin)
    guard let length, parsed.user == nil, parsed.password == nil else { return (origin, parsed) }
    let spelling = String(url.utf8.prefix(length))!
    spellings[spelling] = origin
    origin.spellings.append(spelling)
    return (origin, nil)
  }

  /// The origin of a request. What no origin may ever see is refused here, before anything is queued.
  func locate(_ operation: NetworkOperation, _ request: NetworkRequest) throws(NetworkError) -> Origin {
    let found = try find(request.url)
    guard let canonical = found.canonical else { return found.origin }
    let history = ExchangeHistory(request)
    history.target.url = canonical.pieces.text
    if let user = canonical.user {
      history.authentication.credential = NetworkCredentials(
        scheme: .basic(user: user, password: Secret(canonical.password ?? ""), preemptive: true))
      do throws(NetworkError) { try history.authentication.credential?.check() } catch {
        throw NetworkError(.invalidURL, reason: "userinfo")
      }
    }
    operation.loop.history = history
    return found.origin
  }

  private func known(_ url: String, _ length: Int) -> Origin? {
    let spelling = String(url.utf8.prefix(length))!
    guard let origin = spellings[spelling] else { return nil }
    latest = (spelling, origin)
    return origin
  }

  private func make(_ pieces: URLPieces.Origin) -> Origin {
    if byText.count + 1 >= countMax, !isRetiring { retire() }
    let sizing = OriginSizing(settings.sizing, maximum: settings.maximumPerOrigin, link: link)
    let limit = min(sizing.limit(at: MonotonicClock.now), settings.maximumPerOrigin)
    // What we look up ourselves is known before its turn comes.
    let isResolved = pieces.hostIsAddress || pieces.isLookedUp
    let id = context.queue.addOrigin(limit: limit, resolved: isResolved)
    let origin = Origin(pieces, id: id, sizing: sizing, limit: limit)
    byText[origin.text] = origin
    didCount()
    if let until = quietElsewhere.removeValue(forKey: origin.text) {
      apply(.silenced(until: until), to: origin)
    }
    return origin
  }

  private func didCount() { context.port.loop.originsKnown.store(byText.count, ordering: .relaxed) }

  /// Forgets the idle ones that have not been used for longest: their widths, their handles, their numbers. Not
  /// those that asked for quiet. Begun when the table has doubled, so that its cost is spread over those that
  /// made it long, and done in pieces; not at once: callbacks of libcurl may still name an origin before.
  ///
  /// - Parameter moment: only those that have not been used since then.
  private func retire(unusedSince moment: Microseconds = .max) {
    isRetiring = true
    let kept = Self.kept / context.port.driver.loops.count
    var oldest: [Origin]?
    context.doInPieces { [unowned self] in
      var left = oldest ?? idle(unusedSince: moment).suffix(max(0, byText.count - kept / 2))
      oldest = nil  // so that the list is not copied
      for origin in left.suffix(Turn.piece) where isIdle(origin) { forget(origin) }
      left.removeLast(min(Turn.piece, left.count))
      oldest = left
      didCount()
      if !left.isEmpty { return true }
      countMax = max(kept, byText.count * 2)
      isRetiring = false
      if byText.count > kept { retireLater() }
      return false
    }
  }

  /// The oldest last.
  private func idle(unusedSince moment: Microseconds) -> [Origin] {
    all.filter { $0.usedAt < moment && isIdle($0) }.sorted { $0.usedAt > $1.usedAt }
  }

  /// Origins in use make room for twice as many, which may never come: so they are looked at again later.
  private func retireLater() {
    guard !isLookDue else { return }
    isLookDue = true
    let idleMax = settings.connectionsIdleMax
    context.timers.after(milliseconds: UInt64(idleMax / 1_000)) { [unowned self] in
      isLookDue = false
      if !isRetiring { retire(unusedSince: MonotonicClock.now - idleMax) }
    }
  }

  private func isIdle(_ origin: Origin) -> Bool {
    origin.users == 0 && origin.hold == nil
      && context.queue.running(at: origin.id) + context.queue.waiting(at: origin.id) == 0
  }

  private func forget(_ origin: Origin) {
    byText[origin.text] = nil
    for spelling in origin.spellings { spellings[spelling] = nil }
    if latest?.origin === origin { latest = nil }
    context.queue.removeOrigin(origin.id)
  }

  /// The origins, for people.
  ///
  /// - Parameter connections: those that are open, by the origins' texts.
  func snapshots(
    _ connections: [String: Int], health: (OriginID) -> NetworkEngine.Reachability?
  ) -> [NetworkQueue.OriginSnapshot] {
    let now = MonotonicClock.now
    return all.map { origin in
      NetworkQueue.OriginSnapshot(
        origin: origin.text, width: origin.limit, running: context.queue.running(at: origin.id),
        waiting: context.queue.waiting(at: origin.id),
        pace: origin.sizing.startInterval.map { .microseconds($0) },
        quiet: origin.sizing.holdUntil.flatMap { $0 > now ? .microseconds($0 - now) : nil },
        health: health(origin.id), connections: connections[origin.text] ?? 0)
    }
  }

  // MARK: Widths

  func apply(_ new: NetworkQueue.Configuration) {
    settings = new.part(of: context.port.driver.loops.count)
    for origin in all {
      origin.sizing.sizing = settings.sizing
      origin.sizing.maximum = settings.maximumPerOrigin
      updateLimit(of: origin, now: MonotonicClock.now)
    }
  }

  /// The head of an answer is there: its time tells of the origin, and does not know how long the body is. In the
  /// middle of libcurl's work; it only changes numbers.
  func noteLatency(_ operation: NetworkOperation, _ transfer: Transfer, _ head: ResponseHead) {
    guard let origin = operation.loop.origin, origin.sizing.isAdaptive, head.status != 429, head.status < 500
    else { return }
    let now = MonotonicClock.now
    // Neither the name lookup nor the handshakes; but a wait for one of the streams of an HTTP/2 connection,
    // which libcurl counts to no phase.
    let latency = max(0, now - transfer.exchange.startedAt - transfer.handle.pretransferTime)
    apply(.answered(latency: Double(latency) / 1e6, since: transfer.exchange.startedAt), to: origin, now: now)
    context.loop.markDirty()
  }

  func sizingEvent(
    _ operation: NetworkOperation, _ transfer: Transfer, _ failure: NetworkError?, isLast: Bool,
    _ metrics: NetworkResponse.Metrics
  ) -> OriginSizing.Event {
    let since = transfer.exchange.startedAt
    // How a body ends that the head has made needless says nothing.
    if let failure, isLast || failure.sendState != .answered {
      return failure.code.traits.contains(.isOurs) ? .abandoned : .failed(since: since)
    }
    guard let head = transfer.exchange.head else { return .failed(since: since) }
    if head.status == 429 || head.status == 503 {
      let pauseMax = operation.engine.configuration.originPauseMax.seconds
      return .throttled(retryAfter: head.retryAfter.map { min($0, pauseMax) }, since: since)
    }
    if head.status >= 500 { return .failed(since: since) }
    return .finished(
      OriginSizing.Transport(
        bytes: metrics.bytesReceived, seconds: Double(metrics.totalTime - metrics.firstByteTime) / 1e6,
        isConnectionNew: !metrics.connectionReused))
  }

  /// Tells an origin's width what happened and the queue what follows.
  func apply(_ event: OriginSizing.Event, to origin: Origin, now: Microseconds = MonotonicClock.now) {
    origin.sizing.apply(event, now: now)
    if case .started = event {
      origin.budget.didSendRequest()
      origin.usedAt = now
    }
    updateLimit(of: origin, now: now)
    if case .throttled(_?, _) = event { tellOtherLoops(of: origin) }
  }

  /// Redirects may lead their requests there.
  private func tellOtherLoops(of origin: Origin) {
    let (driver, number) = (context.port.driver, context.port.loop.number)
    guard driver.loops.count > 1, let until = origin.sizing.holdUntil else { return }
    driver.performEverywhere(of: QueueDriver.Command.house) { [text = origin.text] core in
      if core.port.loop.number != number { core.origins.keepQuiet(at: text, until: until) }
    }
  }

  private func keepQuiet(at text: String, until: Microseconds) {
    if let origin = byText[text] { return apply(.silenced(until: until), to: origin) }
    let now = MonotonicClock.now
    if quietElsewhere.count >= Self.kept { quietElsewhere = quietElsewhere.filter { $0.value > now } }
    if quietElsewhere.count < Self.kept { quietElsewhere[text] = max(until, quietElsewhere[text] ?? until) }
  }

  private func updateLimit(of origin: Origin, now: Microseconds) {
    let limit = min(origin.sizing.limit(at: now), settings.maximumPerOrigin)
    if limit != origin.limit {
      origin.limit = limit
      context.queue.setLimit(limit, for: origin.id)
    }
    guard limit == 0, origin.hold == nil, let until = origin.sizing.holdUntil else { return }
    origin.hold = context.timers.after(milliseconds: UInt64(max(0, until - now) / 1000) + 1) {
      [unowned self, unowned origin] in
      let now = MonotonicClock.now
      origin.hold = nil
      origin.held.end(now)
      endPause(of: origin)
      updateLimit(of: origin, now: now)
    }
    // Less is a pace, or a moment's quiet: waiting for a slot.
    guard until - now >= Self.holdMin else { return }
    origin.held.begin(now)
    if origin.pause == nil { origin.pause = context.port.driver.pauses.wait() }
    countWaiting(at: origin)
    origin.nextTotal = 0
    lookAtTotals(of: origin)
  }

  /// The origin's time of quiet is over, or the queue's.
  func endPause(of origin: Origin) {
    guard let pause = origin.pause else { return }
    context.port.driver.pauses.end(pause)
    origin.pause = nil
    countWaiting(at: origin)
  }

  private func countWaiting(at origin: Origin) {
    let waiting = origin.pause == nil ? 0 : context.queue.waiting(at: origin.id)
    context.port.driver.waitingForPauses.add(waiting - origin.waitingForPause, ordering: .relaxed)
    origin.waitingForPause = waiting
  }

  /// From a second on a wait is the origin's wish, and counts against the total.
  private static let holdMin: Microseconds = 1_000_000

  // MARK: The totals of operations that wait for an origin which has asked for quiet: that time counts

  private static let totalsMilliseconds: UInt64 = 50
  private static let totalsPiece = 128

  /// Ends those that wait for a held origin when their total is over.
  private func lookAtTotals(of origin: Origin) {
    let hold = origin.hold
    context.timers.after(milliseconds: Self.totalsMilliseconds) { [weak self, weak origin] in
      guard let self, let origin, origin.hold != nil, origin.hold == hold else { return }
      countWaiting(at: origin)
      MonotonicClock.now < origin.nextTotal ? lookAtTotals(of: origin) : endLate(at: origin)
    }
  }

  /// An operation that has come meanwhile may be the next whose total is over.
  func noteTotal(of operation: NetworkOperation, at origin: Origin) {
    guard origin.hold != nil,
      let end = totalEnd(of: operation, at: origin, now: MonotonicClock.now)
    else { return }
    origin.nextTotal = min(origin.nextTotal, end)
  }

  /// Looks at all that wait there, some of them in each turn: who came first need not be the first whose time is over.
  private func endLate(at origin: Origin) {
    let hold = origin.hold
    var (classes, start) = (NetworkRequest.Priority.allCases[...], Ticket?.none)
    origin.nextTotal = .max
    context.doInPieces { [unowned self, weak origin] in
      guard let origin, origin.hold == hold, let priority = classes.first else { return false }
      if let ticket = start, !context.queue.isWaiting(ticket) {
        (classes, origin.nextTotal) = ([], 0)  // nobody knows where it stood: all are looked at again
      } else {
        start = endLate(at: origin, priority, from: start)
        if start == nil { classes.removeFirst() }
      }
      guard classes.isEmpty else { return true }
      countWaiting(at: origin)
      lookAtTotals(of: origin)
      return false
    }
  }

  /// Answers where the rest begins.
  private func endLate(
    at origin: Origin, _ priority: NetworkRequest.Priority, from start: Ticket?
  ) -> Ticket? {
    let now = MonotonicClock.now
    var late: [NetworkOperation] = []
    let rest = context.queue.visit(at: origin.id, priority, from: start, atMost: Self.totalsPiece) {
      operation in
      operation.forEachRecipient { recipient in
        guard let end = totalEnd(of: recipient, at: origin, now: now) else { return }
        if end <= now { late.append(recipient) } else { origin.nextTotal = min(origin.nextTotal, end) }
      }
    }
    for operation in late {
      context.port.driver.pauses.refuse()
      context.withdraw(operation, NetworkError(.timedOut, cause: .total))
    }
    return rest
  }

  /// When its total is over if the origin stays as it is; nil: it has none.
  private func totalEnd(
    of operation: NetworkOperation, at origin: Origin, now: Microseconds
  ) -> Microseconds? {
    guard let total = operation.timeLimits(operation.sent).total else { return nil }
    let history = operation.loop.history
    let since = max(operation.loop.submittedAt, history?.waitingSince ?? 0)
    let left = total.microseconds - (history?.spent ?? 0) - origin.held.since(since, now: now)
    return left > .max - now ? .max : now + left
  }
}
