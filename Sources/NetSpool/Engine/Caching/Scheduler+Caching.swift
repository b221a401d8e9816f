internal import Synchronization

/// Ending with what is held: to the handlers at once, to streams as fast as they take it.
extension Scheduler {
  /// Ends an operation and those who follow it with an answer from the cache; streams get its body.
  func answer(_ operation: NetworkOperation, _ response: NetworkResponse) -> Step {
    if (300..<400).contains(response.head.status), response.head.status != 304 {
      switch redirect(operation, response.head) {
      case .redirect(let hop):
        cacheSide.release(operation)
        return .follow(hop)
      case .fail(let failure): return .fail(failure)
      default: break
      }
    }
    unregister(operation)
    guard operation.recipients.contains(where: { $0.hasStreams }) else {
      return .end(Ending(response))
    }
    for recipient in operation.recipients { makeSinks(of: recipient, for: operation) }
    guard operation.loop.extras?.fanout != nil, response.head.status < 300 else {
      return .end(Ending(response))
    }
    loop.markDirty()  // there may be room at once: `playNext`
    return .wait(Wait(.playback, in: rooms.playbacks(of: operation.engine), then: .play(response)))
  }

  /// Streams have buffers, so only so many bodies of an engine go out at once.
  func playNext() {
    while let next = rooms.nextPlayback() { next.goOn() }
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
    worker.run(on: lane) {
      body.copy(of: range)
    } completion: { piece in
      source.object?.take(piece)
    }
  }
}
