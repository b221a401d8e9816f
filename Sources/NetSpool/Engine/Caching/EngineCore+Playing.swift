/// Ending with what is held: to the handlers at once, to streams as fast as they take it.
extension EngineCore {
  /// Ends an operation and those who follow it with an answer from the cache; streams get its body.
  func answer(_ operation: NetworkOperation, _ response: NetworkResponse) {
    unregister(operation)
    guard waiters(of: operation).contains(where: { hasStreams($0) }) else {
      return deliver(operation, response, nil, nil)
    }
    for waiter in waiters(of: operation) { makeSinks(of: waiter, for: operation) }
    guard let fanout = operation.loop.extras?.fanout else { return deliver(operation, response, nil, nil) }
    guard response.head.status < 300 else {
      return publish(operation, response, nil, fanout, refusal: NetworkError(status: response))
    }
    toPlay.append(WaitingPlayback(operation: operation, response: response, fanout: fanout))
    playNext()
  }

  /// Streams have buffers, so only so many bodies go out at once as from the network.
  func playNext() {
    while playing.count + ending.count < Self.publishingMax, let next = toPlay.popFirst() {
      // One that was cancelled meanwhile has no streams any more.
      if next.operation.loop.extras?.fanout === next.fanout { play(next) }
    }
  }

  private func play(_ waiting: WaitingPlayback) {
    let (operation, fanout) = (waiting.operation, waiting.fanout)
    var answer = waiting.response
    forEachWaiter(of: operation) { didStart($0) }
    let playback = CachePlayback(answer.body, into: fanout)
    operation.makeExtras().playback = playback
    playing[operation.id] = operation
    if waiters(of: operation).allSatisfy({ hasStreams($0) }) { answer.body = .empty }
    playback.start(answer.head) { [unowned self, answer] in
      playing[operation.id] = nil
      operation.loop.extras?.playback = nil
      publish(operation, answer, nil, fanout, refusal: nil)
    }
  }
}

/// An answer from the cache whose streams wait for their turn.
struct WaitingPlayback {
  let operation: NetworkOperation
  let response: NetworkResponse
  let fanout: SinkFanout
}
