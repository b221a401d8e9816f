internal import Synchronization

/// Ending with what is held: to the handlers at once, to streams as fast as they take it.
extension Scheduler {
  /// Ends an operation and those who follow it with an answer from the cache; streams get its body.
  func answer(_ operation: NetworkOperation, _ response: NetworkResponse) {
    if (300..<400).contains(response.head.status), response.head.status != 304 {
      switch redirect(operation, response.head) {
      case .redirect(let hop):
        releaseValidation(operation)
        return follow(hop, operation, operation.makeHistory())
      case .fail(let failure): return publish(operation, failure)
      default: break
      }
    }
    unregister(operation)
    guard operation.recipients.contains(where: { $0.hasStreams }) else {
      return publish(operation, Ending(response))
    }
    for recipient in operation.recipients { makeSinks(of: recipient, for: operation) }
    guard let fanout = operation.loop.extras?.fanout, response.head.status < 300 else {
      return publish(operation, Ending(response))
    }
    move(operation, to: .playing(nil))
    rooms.park(WaitingPlayback(operation: operation, response: response, fanout: fanout))
    playNext()
  }

  /// Streams have buffers, so only so many bodies of an engine go out at once.
  func playNext() {
    while let next = rooms.nextPlayback() {
      // One that was cancelled meanwhile is somewhere else.
      if case .playing(nil) = next.operation.loop.phase { play(next) }
    }
  }

  private func play(_ waiting: WaitingPlayback) {
    let (operation, fanout) = (waiting.operation, waiting.fanout)
    var answer = waiting.response
    operation.forEachRecipient { didStart($0) }
    let playback = Playback(
      StoredBodySource(answer.body), head: answer.head, bytesExpected: Int64(answer.body.count)
    ) { fanout }
    limitStreams(of: operation)
    move(operation, to: .playing(playback))
    if operation.recipients.allSatisfy({ $0.hasStreams }) { answer.body = .empty }
    playback.start()
    playback.finish { [unowned self, answer] in publish(operation, Ending(answer)) }
  }
}

/// An answer from the cache whose streams wait for their turn.
struct WaitingPlayback {
  let operation: NetworkOperation
  let response: NetworkResponse
  let fanout: SinkFanout
}
