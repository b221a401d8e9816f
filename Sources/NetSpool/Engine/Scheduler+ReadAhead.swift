/// Who shares a connection of HTTP/2, and who has one of his own (`ReadAhead`).
extension Scheduler {
  /// Chooses the connections for an exchange that is about to begin. How long its answer will be is not known yet: a request
  /// that may be sent twice shares one, as long as the limit is not reached, and is sent again where its answer turns out to be
  /// too long. Any other has its room before it is sent.
  func connections(
    for operation: NetworkOperation, at origin: Origin, _ credential: NetworkCredentials?
  ) -> (ConnectionChoice, ReadAhead.Share?) {
    let shared = ConnectionChoice.shared(origin.connections)
    let isHTTP2 = operation.engine.handleSettings.mayBeHTTP2(isSecure: origin.isSecure)
    let servesOnce = isHTTP2 && !origin.isSecure && Quirks.breaksKnownHTTP2
    if servesOnce || operation.loop.history?.needsOwnConnection ?? false { return (.own, nil) }
    guard operation.hasStreams, origin.speaksHTTP2 ?? true, !(credential?.isNTLM ?? false), isHTTP2 else {
      return (shared, nil)
    }
    if mayRepeat(operation) {
      if origin.speaksHTTP2 == nil || !driver.readAhead.isFull { return (shared, nil) }
    } else if let share = driver.readAhead.take(ReadAhead.windowBytes) {
      return (shared, share)
    }
    driver.readAhead.refuse()
    return (.own, nil)
  }

  /// Sending it twice changes nothing.
  private func mayRepeat(_ operation: NetworkOperation) -> Bool {
    let method = operation.loop.history?.target.method ?? operation.sent.method
    return method.isSafe && operation.sent.prepared.canReplay
  }

  /// Whether an answer that goes to streams must come again on a connection of its own. At its head, which tells its length; in
  /// the middle of libcurl's work.
  func needsOwnConnection(
    _ operation: NetworkOperation, _ transfer: Transfer, _ head: ResponseHead
  ) -> Bool {
    let share = transfer.exchange.readAhead.take()
    guard operation.loop.extras?.fanout != nil, head.status < 300 else { return false }
    operation.loop.origin?.speaksHTTP2 = transfer.exchange.speaksHTTP2
    guard transfer.exchange.speaksHTTP2, transfer.scope.connections != .own, !isClosing else { return false }
    let needed = transfer.announcedBody(head).map { Int(min($0, Int64(ReadAhead.windowBytes))) }
    let bytes = needed ?? ReadAhead.windowBytes
    share?.shrink(to: bytes)
    transfer.exchange.readAhead = share ?? driver.readAhead.take(bytes)
    guard transfer.exchange.readAhead == nil, mayRepeat(operation) else { return false }
    driver.readAhead.refuse()
    operation.makeHistory().needsOwnConnection = true
    transfer.fail(
      NetworkError(.cancelled, reason: "asked for again on a connection of its own", sendState: .answered))
    return true
  }
}
