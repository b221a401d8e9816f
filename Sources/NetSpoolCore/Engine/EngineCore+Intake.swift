internal import Synchronization

/// How an operation comes in: checked, coalesced, queued.
extension EngineCore {
  func submit(_ operation: Operation) {
    loop.assertOnLoop()
    let (request, dependencies) = operation.shared.withLock { ($0.request, $0.dependencies) }
    if operation.shared.withLock({ $0.outcome != nil }) { return }  // cancelled on the way
    if isClosing { return conclude(operation, Failure(.engineClosed)) }
    do throws(Failure) {
      try check(operation, request)
      if request.hasExtras,
        let deadline = request.extra.timeouts?.queueDeadline ?? operation.context.timeouts.queueDeadline
      {
        startQueueDeadline(operation, request, seconds: deadline)
      }
      if try hold(operation, behind: dependencies) { return }
    } catch {
      return conclude(operation, error)
    }
    enqueue(operation)
  }

  /// What no origin may ever see is refused here, before anything is queued.
  private func check(_ operation: Operation, _ request: Request) throws(Failure) {
    let place = try origins.place(request.url, make: makeOrigin)
    if let canonical = place.canonical {
      let journey = Journey(request)
      journey.url = canonical.pieces.text
      if let user = canonical.user, !request.headers.contains("Authorization") {
        let pair = Array("\(user):\(canonical.password ?? "")".utf8)
        journey.headers.append(name: "Authorization", value: "Basic " + Base64.encode(pair))
      }
      operation.loop.journey = journey
    }
  }

  func makeOrigin(_ text: String) -> Origin {
    let sizing = OriginSizing(settings.sizing, maximum: settings.maximumPerOrigin)
    let limit = min(sizing.limit(at: MonotonicClock.now), settings.maximumPerOrigin)
    let isNumeric = text.utf8.last.map { $0.isASCIIDigit || $0 == UInt8(ascii: "]") } ?? false
    let id = queue.addOrigin(limit: limit, resolved: isNumeric && !text.utf8.contains(where: \.isASCIILetter))
    return Origin(text: text, id: id, sizing: sizing)
  }

  /// True when it must wait for others first.
  private func hold(_ operation: Operation, behind others: [Operation]) throws(Failure) -> Bool {
    for other in others where other.shared.withLock({ $0.outcome == nil }) {
      if case .cycle = dependencies.add(operation.id, after: other.id) {
        throw Failure(.invalidRequest, reason: "a cycle of dependencies")
      }
    }
    guard dependencies.isBlocked(operation.id) else { return false }
    blocked[operation.id] = operation
    return true
  }

  /// Into the queue, or behind an equal request.
  func enqueue(_ operation: Operation) {
    let (request, hasStreams) = operation.shared.withLock { ($0.request, !$0.streams.isEmpty) }
    if Coalescer.mayShare(request) {
      if let carrier = coalescer.carrier(for: operation, request) {
        if join(operation, carrier, hasStreams: hasStreams) { return }
      } else {
        operation.loop.isRegistered = true
      }
    }
    wait(operation, request.priority, atFront: false)
  }

  func wait(_ operation: Operation, _ priority: Priority, atFront: Bool) {
    let url = operation.loop.journey?.url ?? operation.request.url
    do throws(Failure) {
      let origin = try origins.place(url, make: makeOrigin).origin
      operation.loop.ticket = queue.enqueue(
        operation, origin: origin.id, priority: priority, atFront: atFront)
    } catch {
      endCarrier(operation, .failure(error))
    }
  }

  /// Follows an equal request; false when its body is already gone by.
  private func join(_ operation: Operation, _ carrier: Operation, hasStreams: Bool) -> Bool {
    if let transfer = carrier.loop.transfer, let use = transfer.bodyUse {
      guard use.collects else { return false }
      if hasStreams { addSinks(of: operation, to: carrier) }
    } else if hasStreams, carrier.loop.transfer != nil {
      addSinks(of: operation, to: carrier)
    }
    operation.loop.carrier = carrier
    carrier.loop.followers.append(operation)
    carrier.loop.followersLeft += 1
    if carrier.loop.transfer != nil { set(.executing, operation) }
    raise(carrier, to: operation.request.priority)
    return true
  }

  /// A shared operation is as urgent as the most urgent of those that wait for it.
  func raise(_ carrier: Operation, to priority: Priority) {
    guard let ticket = carrier.loop.ticket else { return }
    let highest = waiters(of: carrier).map(\.request.priority).max() ?? priority
    _ = queue.reprioritise(ticket, to: max(highest, priority))
  }

  /// Those who get the answer: the carrier, unless its user has left, and its followers.
  func waiters(of carrier: Operation) -> [Operation] {
    carrier.loop.isHollow ? carrier.loop.followers : [carrier] + carrier.loop.followers
  }

  private func startQueueDeadline(_ operation: Operation, _ request: Request, seconds: Double) {
    operation.makeJourney().queueDeadline = timers.after(milliseconds: UInt64(seconds * 1000)) {
      [unowned self, unowned operation] in
      guard operation.loop.transfer == nil else { return }
      withdraw(operation, Failure(.timedOut, reason: "queueDeadline"))
    }
  }
}
