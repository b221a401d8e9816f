internal import Synchronization

/// How an operation comes in: checked, coalesced, queued.
extension EngineCore {
  func submit(_ operation: NetworkOperation) {
    loop.assertOnLoop()
    operation.loop.isSubmitted = true
    let (request, dependencies, isHeard) = operation.shared.withLock { shared in
      (shared.request, shared.dependencies, shared.handlers.wantsState)
    }
    if isHeard { tell(operation, .state(.queued)) }
    do throws(NetworkError) {
      if isClosing { throw NetworkError(.engineClosed) }
      if operation.loop.isCancelledEarly { throw NetworkError(.cancelled) }
      operation.loop.origin = try locate(operation, request)
      let own = request.timeouts?.queueDeadline
      if let deadline = own ?? operation.context.timeouts.queueDeadline {
        startQueueDeadline(operation, deadline)
      }
      if !dependencies.isEmpty, try hold(operation, behind: dependencies) { return }
    } catch {
      return conclude(operation, error)
    }
    enqueue(operation, request)
  }

  /// Where it goes. What no origin may ever see is refused here, before anything is queued.
  private func locate(_ operation: NetworkOperation, _ request: NetworkRequest) throws(NetworkError) -> Origin
  {
    let place = try origins.place(request.url, make: makeOrigin)
    guard let canonical = place.canonical else { return place.origin }
    let journey = Journey(request)
    journey.url = canonical.pieces.text
    if let user = canonical.user {
      journey.credential = NetworkCredentials(
        scheme: .basic(user: user, password: Secret(canonical.password ?? ""), preemptive: true))
      do throws(NetworkError) { try journey.credential?.check() } catch {
        throw NetworkError(.invalidURL, reason: "userinfo")
      }
    }
    operation.loop.journey = journey
    return place.origin
  }

  func makeOrigin(_ origin: URLPieces.Origin) -> Origin {
    originsKnown += 1
    if originsKnown == originsMax { later { [unowned self] in retireOrigins() } }
    let link = connectivity.map { NetworkQueue.Sizing.Link($0.link.kind) } ?? .local
    let sizing = OriginSizing(settings.sizing, maximum: settings.maximumPerOrigin, link: link)
    let limit = min(sizing.limit(at: MonotonicClock.now), settings.maximumPerOrigin)
    let id = queue.addOrigin(limit: limit, resolved: origin.hostIsAddress)
    return Origin(origin, id: id, sizing: sizing, limit: limit)
  }

  /// True when it must wait for others first.
  private func hold(_ operation: NetworkOperation, behind others: [NetworkOperation]) throws(NetworkError)
    -> Bool
  {
    for other in others where other.shared.withLock({ $0.outcome == nil }) {
      if case .cycle = dependencies.add(operation.id, after: other.id) {
        throw NetworkError(.invalidRequest, reason: "a cycle of dependencies")
      }
      let isForeign = other.context.driver !== driver
      hasForeignDependencies = hasForeignDependencies || isForeign
      // The graph ends at this queue's border; what a cycle over others looks like, the operations know.
      if hasForeignDependencies, other.waits(for: operation) {
        // It ends now, and takes its edges out of the graph.
        throw NetworkError(.invalidRequest, reason: "a cycle of dependencies")
      }
      if isForeign { hear(of: other) }
    }
    guard dependencies.isBlocked(operation.id) else { return false }
    blocked[operation.id] = operation
    return true
  }

  /// One of another queue ends on another loop.
  private func hear(of other: NetworkOperation) {
    let (driver, id) = (driver, other.id)
    other.add(.ended { driver.perform { $0.release(id) } })
  }

  /// Into the queue, or behind an equal request.
  func enqueue(_ operation: NetworkOperation, _ request: NetworkRequest) {
    if request.isFreezable { return freeze(operation, request) }
    if Coalescer.mayShare(request) {
      let key = Coalescer.key(of: request, operation.context)
      if let carrier = coalescer.carrier(for: operation, request, key) {
        // Nobody waits for a renewal who may be answered without.
        if carrier.loop.isRefresh, !operation.loop.isRefresh, consult(operation, request) { return }
        if join(operation, carrier, request.priority) { return }
      } else {
        operation.loop.sharingKey = key
      }
    }
    if consult(operation, request) { return }
    wait(operation, request.priority, atFront: false)
  }

  func wait(_ operation: NetworkOperation, _ priority: NetworkRequest.Priority, atFront: Bool) {
    guard let origin = operation.loop.origin else { return }
    let priority = operation.loop.followersLeft == 0 ? priority : highestPriority(operation)
    operation.loop.priority = priority
    operation.loop.ticket = queue.enqueue(operation, origin: origin.id, priority: priority, atFront: atFront)
  }

  /// Follows an equal request; false when its body is already gone by.
  private func join(
    _ operation: NetworkOperation, _ carrier: NetworkOperation, _ priority: NetworkRequest.Priority
  ) -> Bool {
    if let transfer = carrier.loop.transfer, !hasAnotherExchange(carrier) {
      if let use = transfer.bodyUse, !use.collects { return false }
      if hasStreams(operation) { addSinks(of: operation, to: carrier) }
    }
    operation.makeExtras().carrier = carrier
    carrier.makeExtras().followers.append(operation)
    carrier.makeExtras().followersLeft += 1
    if carrier.loop.transfer != nil { didStart(operation) }
    if let early = carrier.loop.cacheUse?.early { provide(operation, early) }
    if priority > carrier.loop.priority { raise(carrier, to: priority) }
    return true
  }

  /// The exchange under way is not the one that answers: its body is dropped, and the next opens the streams.
  private func hasAnotherExchange(_ carrier: NetworkOperation) -> Bool {
    switch carrier.loop.journey?.next {
    case nil, .fail: false
    case .redirect, .retry, .withoutExpect, .unconditional, .authorized, .ask: true
    }
  }

  /// A shared operation is as urgent as the most urgent of those that wait for it.
  func highestPriority(_ carrier: NetworkOperation) -> NetworkRequest.Priority {
    waiters(of: carrier).map(\.request.priority).max() ?? .low
  }

  func raise(_ carrier: NetworkOperation, to priority: NetworkRequest.Priority) {
    carrier.loop.priority = priority
    guard let ticket = carrier.loop.ticket else { return }
    _ = queue.reprioritise(ticket, to: priority)
  }

  /// Those who get the answer: the carrier and its followers, without those whose user has left.
  func waiters(of carrier: NetworkOperation) -> [NetworkOperation] {
    let followers = carrier.loop.followers.filter { $0.loop.extras?.carrier != nil }
    return carrier.loop.isHollow ? followers : [carrier] + followers
  }

  func forEachWaiter(of carrier: NetworkOperation, _ body: (NetworkOperation) -> Void) {
    if !carrier.loop.isHollow { body(carrier) }
    for follower in carrier.loop.followers { body(follower) }
  }

  private func startQueueDeadline(_ operation: NetworkOperation, _ deadline: Duration) {
    operation.makeJourney().queueDeadline = timers.after(milliseconds: deadline.milliseconds) {
      [unowned self, weak operation] in
      if let operation { withdraw(operation, NetworkError(.timedOut, reason: "queueDeadline")) }
    }
  }

  /// Its exchange runs: it has waited long enough.
  func didStart(_ operation: NetworkOperation) {
    timers.cancel(operation.loop.journey?.queueDeadline)
    let use = (operation.loop.extras?.carrier ?? operation).loop.cacheUse
    set(use.map { $0.isConditional || $0.early != nil } ?? false ? .revalidating : .executing, operation)
  }
}
