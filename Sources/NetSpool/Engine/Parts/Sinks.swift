internal import Synchronization

/// The streams of operations, as sinks of their exchange. Loop thread.
extension SinkServices {
  /// A late waiter with streams of its own.
  func addSinks(of waiter: NetworkOperation, to leader: NetworkOperation) {
    makeSinks(of: waiter, for: leader)
    guard let transfer = leader.loop.transfer else { return }
    transfer.exchange.fanout = leader.loop.extras?.fanout
    // The page of an error is no body for a stream.
    if transfer.bodyUse != nil, let head = transfer.exchange.head, head.status < 300 {
      transfer.widen(streamsOf: waiter.id)
    }
  }

  func makeSinks(of operation: NetworkOperation, for leader: NetworkOperation) {
    guard operation.hasStreams, !operation.loop.hasSinks else { return }
    let streams = operation.shared.withLock { $0.rare.streams }
    operation.loop.hasSinks = true
    let fanout = leader.loop.extras?.fanout ?? SinkFanout()
    leader.makeExtras().fanout = fanout
    for (index, stream) in streams.enumerated() {
      fanout.add(stream.makeSink(self), id: operation.id) {
        // Weak: a sink may fail while it is cleaned up, long after its operation has ended.
        [weak self, weak operation, weak fanout] failure in
        guard let self, let operation, operation.loop.extras?.sinkFailure == nil else { return }
        let isLast = fanout?.hasLostAll(of: operation.id) ?? false
        guard stream.isEssential || isLast else { return }
        var failure = NetworkError(failure, in: "stream \(index): ", sendState: .answered)
        failure.url = operation.sent.url
        withdrawSoon(operation, failure)
      }
    }
  }

  /// In the middle of libcurl's work, or of a write: it ends with this, whatever else its end would have been.
  private func withdrawSoon(_ operation: NetworkOperation, _ failure: NetworkError) {
    operation.makeExtras().sinkFailure = failure
    context.later { [unowned context] in context.withdraw(operation, failure) }
  }

  // MARK: The rest of a body

  /// Keeps what there is of a body that broke off, and asks for the rest of it with a sink of its own.
  func goOn(_ operation: NetworkOperation, with part: PartFile, after seconds: Double) -> Step {
    let fanout = operation.loop.extras?.fanout
    operation.loop.extras?.fanout = nil
    operation.loop.hasSinks = false
    let failure = NetworkError(.bodyTruncated, reason: "its part could not be kept", sendState: .answered)
    let wait = Wait(.delay, then: .fail(failure), atMost: Self.keepingMilliseconds)
    // Once it waits. Its end holds the fanout: nothing else does any more.
    context.later { [unowned self] in
      fanout?.finish(failure) { [unowned self, fanout] in
        withExtendedLifetime(fanout) { askForRest(operation, of: part, wait, after: seconds) }
      }
    }
    return .wait(wait)
  }

  /// What a disk may take to keep a part.
  private static let keepingMilliseconds: UInt64 = 10_000

  private func askForRest(
    _ operation: NetworkOperation, of part: PartFile, _ wait: Wait, after seconds: Double
  ) {
    guard operation.currentWait === wait else { return }
    let (waiting, request) = (LoopReference(wait), operation.sent)
    worker.run(on: Worker.Lane(device: devices.device(of: part.target.path))) {
      var rest = request
      part.ask(&rest, forRest: true)
      return rest
    } completion: { rest in
      // It may have been cancelled or paused meanwhile.
      guard let wait = waiting.object, operation.currentWait === wait else { return }
      operation.becomeRest(rest)
      wait.goOn(with: .again(after: seconds))
    }
  }

  // MARK: Bodies that do not come from the wire

  /// A stored body. What lies on a disk is read by a thread that may wait for it.
  func source(of body: ResponseBytes, for operation: NetworkOperation) -> StoredBodySource {
    StoredBodySource(body) { [unowned self, unowned operation] range, source in
      // A model has one thread.
      guard context.loop.timeline == nil else { return source.take(body.copy(of: range)) }
      let store = operation.engine.cache?.store
      let source = LoopReference(source)
      worker.run(on: Worker.Lane(device: store?.device ?? 0)) {
        store?.settings.onDisk?()
        return body.copy(of: range)
      } completion: { piece in
        source.object?.take(piece)
      }
    }
  }

  /// How one who comes now gets the body that is on its way: out of its spool. Nil: not from there.
  func makePlayback(
    of transfer: Transfer, for operation: NetworkOperation, onLost: @escaping () -> Void
  ) -> Playback? {
    guard let spool = transfer.exchange.spool, spool.canBeRead, let head = transfer.exchange.head,
      transfer.bodyUse?.collects == false
    else { return nil }
    let expected = transfer.exchange.bytesExpected
    let bytesMax = Int64(transfer.exchange.plan.limits.bodyBytesInMemoryMax)
    if !operation.hasStreams, max(expected ?? 0, Int64(spool.count)) > bytesMax { return nil }
    // A short one fits into what any stream may be behind.
    if let expected, expected <= Int64(BodySpool.beginningMax), transfer.hasWholeBeginning { return nil }
    spool.prepareToBeRead()
    guard spool.canBeRead else { return nil }
    let reader = SpoolReader(spool)
    reader.onLost = { [context] in context.later(onLost) }
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
}
