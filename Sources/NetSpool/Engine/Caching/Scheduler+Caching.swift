/// Something that a store does for an answer, and that may wait for the disk.
struct StoreDuty: Sendable {
  typealias Job = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

  fileprivate let cache: EngineCache
  fileprivate let bytes: Int
  fileprivate let job: Job

  /// - Parameter bytes: what it keeps in memory until then.
  init(_ cache: EngineCache, bytes: Int = 0, _ job: @escaping Job) {
    (self.cache, self.bytes, self.job) = (cache, bytes, job)
  }
}

/// Ending with what is held: to the handlers at once, to streams as fast as they take it.
extension Scheduler {
  /// Ends an operation and those who follow it with an answer from the cache; streams get its body.
  func answer(_ operation: NetworkOperation, _ response: NetworkResponse) -> Step {
    if (300..<400).contains(response.head.status), response.head.status != 304 {
      let next = successors.redirect(operation, response.head)
      cacheSide.release(operation)
      if let next { return .next(next) }
    }
    unregister(operation)
    guard operation.streamsAnswer else {
      return .end(Ending(response))
    }
    for recipient in operation.recipients { makeSinks(of: recipient, for: operation) }
    guard operation.loop.extras?.fanout != nil, response.head.status < 300 else {
      return .end(Ending(response))
    }
    loop.markDirty()  // there may be room at once
    return .wait(Wait(.playback, in: rooms.playbacks(of: operation.engine), then: .play(response)))
  }

  func play(_ response: NetworkResponse, of operation: NetworkOperation) {
    let fanout = operation.loop.extras?.fanout
    var answer = response
    operation.forEachRecipient { didStart($0) }
    let body = answer.body
    let source = StoredBodySource(body) { [unowned self, unowned operation] range, source in
      readPiece(range, of: body, for: operation, into: source)
    }
    let playback = Playback(source, head: answer.head, bytesExpected: Int64(body.count)) { fanout }
    limitStreams(of: operation)
    move(operation, to: .playing(playback))
    if operation.recipients.allSatisfy({ $0.hasStreams }) { answer.body = .empty }
    playback.start(opensAtOnce: true)
    playback.finish { [unowned self, answer] in publish(operation, Ending(answer)) }
  }

  /// What lies on a disk is read by a thread that may wait for it.
  private func readPiece(
    _ range: Range<Int>, of body: ResponseBody, for operation: NetworkOperation, into source: StoredBodySource
  ) {
    guard loop.timeline == nil else { return source.take(body.copy(of: range)) }  // a model has one thread
    let lane = Worker.Lane(device: operation.engine.cache?.store.device ?? 0)
    let source = LoopReference(source)
    sinks.worker.run(on: lane) {
      body.copy(of: range)
    } completion: { piece in
      source.object?.take(piece)
    }
  }

  // MARK: Before its user hears of an ending

  /// A store that is slow, or that another process keeps, holds nobody up for longer: with an answer that is stored, or
  /// without.
  private static let recordingMilliseconds: UInt64 = 50
  private static let storingMilliseconds: UInt64 = 1_000

  /// Ends an operation once the store has done what belongs to the answer. What it made worthless is written down: whoever
  /// hears of the ending may exit at once, or ask another process, and must not find what was there. What is stored is found.
  func record(_ operation: NetworkOperation, _ ending: Ending) {
    guard let duties = operation.loop.extras?.unwritten else { return publish(operation, ending) }
    operation.loop.extras?.unwritten = []
    let stores = duties.contains { $0.bytes > 0 }
    let limit = stores ? Self.storingMilliseconds : Self.recordingMilliseconds
    let wait = Wait(.recording, then: .end(ending), atMost: limit)
    suspend(operation, wait)
    let (port, waiting) = (port, LoopReference(wait))
    let left = Countdown(duties.count) { port.perform { _ in waiting.object?.goOn() } }
    for duty in duties {
      guard loop.timeline == nil else {
        duty.job { left.signal() }  // a model has one thread
        continue
      }
      let isTaken = duty.cache.store.look(bytes: duty.bytes) { duty.job { left.signal() } }
      if !isTaken { left.signal() }
    }
  }

  // MARK: Keeping what goes to streams, for the cache and for those that come late

  /// In the middle of libcurl's work, before the streams are opened.
  func spool(_ use: CacheUse, _ transfer: Transfer, _ fanout: SinkFanout) {
    guard let spool = cacheSide.bridge.spool(use, transfer, at: sinks.spoolPlace(of: use.cache.store)) else {
      use.claim?.giveUp()
      return
    }
    fanout.add(spool, id: 0) { _ in }  // nobody's own, and it never fails
    transfer.exchange.spool = spool
  }

  // MARK: Operations that come late

  /// How one who comes now gets the body that is on its way: out of its spool. Nil: not from there.
  func makePlayback(of transfer: Transfer, for operation: NetworkOperation) -> Playback? {
    guard let spool = transfer.exchange.spool, spool.canBeRead, let head = transfer.exchange.head,
      transfer.bodyUse?.collects == false, rooms.hasRoomForStreams(operation.engine)
    else { return nil }
    let expected = transfer.exchange.bytesExpected
    let bytesMax = Int64(transfer.exchange.plan.limits.bodyBytesInMemoryMax)
    if !operation.hasStreams, max(expected ?? 0, Int64(spool.count)) > bytesMax { return nil }
    // A short one fits into what any stream may be behind.
    if let expected, expected <= Int64(BodySpool.beginningMax), transfer.hasWholeBeginning { return nil }
    spool.prepareToBeRead()
    guard spool.canBeRead else { return nil }
    let reader = SpoolReader(spool)
    reader.onLost = { [unowned self, weak operation] in
      context.later { [unowned self] in if let operation { didLoseSpool(operation) } }
    }
    return Playback(reader, head: head, bytesExpected: expected) { [unowned self, weak operation] in
      operation.flatMap { lateFanout(of: $0) }
    }
  }

  /// Made with the first bytes: until then the operation may still go its own way.
  private func lateFanout(of operation: NetworkOperation) -> SinkFanout? {
    makeSinks(of: operation, for: operation)
    if let fanout = operation.loop.extras?.fanout { return fanout }
    let fanout = SinkFanout()
    let sink = MemorySink(bytesMax: operation.engine.configuration.limits.bodyBytesInMemoryMax)
    fanout.add(sink, id: 0) { [unowned self, weak operation] failure in
      let error = NetworkError(failure, sendState: .answered)
      if let operation { withdrawSoon(operation, error) }
    }
    operation.makeExtras().fanout = fanout
    operation.makeExtras().lateBody = sink
    return fanout
  }

  /// The exchange is over. Those who read its spool end when they have read it, and with a failure at once.
  func letFollowersEnd(_ leader: NetworkOperation, _ ending: Ending) {
    for follower in leader.loop.waiters {
      guard case .following(leader, let playback) = follower.loop.phase else { continue }
      if ending.refusal != nil {
        publish(follower, ending)
        continue
      }
      move(follower, to: .playing(playback))
      if let total = follower.timeLimits(follower.request).total {
        limit(follower, to: total.microseconds - (MonotonicClock.now - playback.startedAt))
      }
      playback.finish { [unowned self, ending] in
        var ending = ending
        if let body = follower.loop.extras?.lateBody { ending.answer?.body = ResponseBody(body.take()) }
        publish(follower, ending)
      }
    }
  }

  /// The disk took no more of a body that is still being read. Whose streams have got none of it asks for itself.
  func didLoseSpool(_ operation: NetworkOperation) {
    switch operation.loop.phase {
    case .following, .playing: break
    default: return
    }
    guard !operation.loop.hasSinks else {
      return withdraw(operation, NetworkError(.storeFailed, reason: "spool", sendState: .answered))
    }
    operation.loop.extras?.lateBody = nil
    move(operation, to: .deciding)
    operation.loop.extras?.fanout = nil
    set(.queued, operation)
    go(operation, from: .enter)
  }
}
