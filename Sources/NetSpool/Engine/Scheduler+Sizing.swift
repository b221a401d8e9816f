internal import Synchronization

/// What an origin's width learns, and what follows from it.
extension Scheduler {
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
    loop.markDirty()
  }

  func sizingEvent(
    _ operation: NetworkOperation, _ transfer: Transfer, _ failure: NetworkError?,
    _ metrics: NetworkResponse.Metrics
  ) -> OriginSizing.Event {
    let since = transfer.exchange.startedAt
    // How a body ends that the head has made needless says nothing.
    if let failure, transfer.exchange.next == nil || failure.sendState != .answered {
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
  func apply(_ event: OriginSizing.Event, to origin: Origin, now: Microseconds) {
    loop.assertOnLoop()
    origin.sizing.apply(event, now: now)
    if case .started = event {
      origin.budget.didSendRequest()
      origin.usedAt = now
    }
    updateLimit(of: origin, now: now)
  }

  func updateLimit(of origin: Origin, now: Microseconds) {
    let limit = min(origin.sizing.limit(at: now), settings.maximumPerOrigin)
    if limit != origin.limit {
      origin.limit = limit
      seats.queue.setLimit(limit, for: origin.id)
    }
    guard limit == 0, origin.hold == nil, let until = origin.sizing.holdUntil else { return }
    origin.hold = timers.after(milliseconds: UInt64(max(0, until - now) / 1000) + 1) {
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
    if origin.pause == nil { origin.pause = driver.pauses.wait() }
    countWaiting(at: origin)
    watchTotals(at: origin)
  }

  /// The origin's time of quiet is over, or the queue's.
  func endPause(of origin: Origin) {
    guard let pause = origin.pause else { return }
    driver.pauses.end(pause)
    origin.pause = nil
    countWaiting(at: origin)
  }

  func countWaiting(at origin: Origin) {
    let waiting = origin.pause == nil ? 0 : seats.queue.waiting(at: origin.id)
    driver.waitingForPauses.add(waiting - origin.waitingForPause, ordering: .relaxed)
    origin.waitingForPause = waiting
  }

  /// From a second on a wait is the origin's wish, and counts against the total.
  private static let holdMin: Microseconds = 1_000_000
}
