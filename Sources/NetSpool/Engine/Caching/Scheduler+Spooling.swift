/// Keeping what goes to streams, for the cache and for those who come late.
extension Scheduler {
  /// In the middle of libcurl's work, before the streams are opened.
  func spool(_ use: CacheUse, _ transfer: Transfer, _ fanout: SinkFanout) {
    guard let spool = cacheBridge.spool(use, transfer, at: spoolPlace(of: use.cache.store)) else {
      use.claim?.giveUp()
      return
    }
    fanout.add(spool, id: 0) { _ in }  // nobody's own, and it never fails
    transfer.exchange.spool = spool
  }

  private func spoolPlace(of store: CacheStore) -> BodySpool.Place {
    let directory = store.settings.directory
    return BodySpool.Place(
      directory: directory, room: store.spools, worker: worker,
      lane: Worker.Lane(device: devices.device(of: directory)), buffers: buffers, memory: spoolMemory,
      onDisk: store.settings.onDisk,
      after: { [unowned self] milliseconds, callback in timers.after(milliseconds: milliseconds, callback) })
  }
}

// MARK: Those who come late

extension Scheduler {
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
      later { [unowned self] in if let operation { didLoseSpool(operation) } }
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
