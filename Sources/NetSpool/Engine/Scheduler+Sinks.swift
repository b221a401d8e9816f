internal import Synchronization

/// The streams of operations, as sinks of their exchange.
extension Scheduler {
  /// The transfer goes on once its streams take more.
  func heed(_ fanout: SinkFanout, of transfer: Transfer) {
    fanout.onRoom = { [unowned self, weak transfer] in
      guard let transfer else { return }
      takePlaceAgain(transfer)
      transfer.resumeByReader()
    }
  }

  /// A late waiter with streams of its own.
  func addSinks(of waiter: NetworkOperation, to leader: NetworkOperation) {
    makeSinks(of: waiter, for: leader)
    guard let transfer = leader.loop.transfer else { return }
    transfer.exchange.fanout = leader.loop.extras?.fanout
    if let fanout = transfer.exchange.fanout { heed(fanout, of: transfer) }
    // The page of an error is no body for a stream.
    if transfer.bodyUse != nil, let head = transfer.exchange.head, head.status < 300 {
      transfer.widen(streamsOf: waiter.id)
    }
  }

  func makeSinks(of operation: NetworkOperation, for leader: NetworkOperation) {
    guard operation.hasStreams, !operation.loop.hasSinks else { return }
    let streams = operation.shared.withLock { $0.streams }
    operation.loop.hasSinks = true
    let fanout = leader.loop.extras?.fanout ?? SinkFanout()
    leader.makeExtras().fanout = fanout
    for (index, stream) in streams.enumerated() {
      fanout.add(stream.makeSink(sinks), id: operation.id) {
        // Weak: a sink may fail while it is cleaned up, long after its operation has ended.
        [weak self, weak operation, weak fanout] failure in
        guard let self, let operation else { return }
        let isLast = fanout?.hasLostAll(of: operation.id) ?? false
        if stream.isEssential || isLast { sinkFailed(operation, index, failure) }
      }
    }
  }

  /// Keeps what there is of a body that broke off, and asks for the rest of it with a sink of its own.
  func goOn(_ operation: NetworkOperation, with part: PartFile, after seconds: Double) -> Step {
    unregister(operation)  // the rest is of use to no other
    operation.loop.cacheUse = nil
    let fanout = operation.loop.extras?.fanout
    operation.loop.extras?.fanout = nil
    operation.loop.hasSinks = false
    let failure = NetworkError(.bodyTruncated, reason: "its part could not be kept", sendState: .answered)
    let wait = Wait(.delay, then: .fail(failure), atMost: Self.keepingMilliseconds)
    suspend(operation, wait)
    // Its end holds it: nothing else does any more.
    fanout?.finish(failure) { [unowned self, fanout] in
      withExtendedLifetime(fanout) { askForRest(operation, of: part, wait, after: seconds) }
    }
    return .done
  }

  /// What a disk may take to keep a part.
  private static let keepingMilliseconds: UInt64 = 10_000

  private func askForRest(
    _ operation: NetworkOperation, of part: PartFile, _ wait: Wait, after seconds: Double
  ) {
    guard operation.currentWait === wait else { return }
    let lane = Worker.Lane(device: sinks.devices.device(of: part.target.path))
    let (waiting, request) = (LoopReference(wait), operation.sent)
    sinks.worker.run(on: lane) {
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

  private func sinkFailed(_ operation: NetworkOperation, _ index: Int, _ cause: SinkFailure) {
    guard operation.loop.extras?.sinkFailure == nil else { return }
    var failure = NetworkError(cause, in: "stream \(index): ", sendState: .answered)
    failure.url = operation.sent.url
    withdrawSoon(operation, failure)
  }

  /// In the middle of libcurl's work, or of a write: it ends with this, whatever else its end would have been.
  func withdrawSoon(_ operation: NetworkOperation, _ failure: NetworkError) {
    operation.makeExtras().sinkFailure = failure
    context.later { [unowned self] in withdraw(operation, failure) }
  }
}
