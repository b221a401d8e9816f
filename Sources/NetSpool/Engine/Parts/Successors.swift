/// Says what follows an exchange that is not the last: a redirect, another attempt, other credentials, another connection.
/// Loop thread.
final class Successors {
  var repetition = Repetition()
  let authenticator = Authenticator()
  private let bridge = CacheBridge()
  private let context: LoopContext

  init(_ context: LoopContext) { self.context = context }

  // MARK: At the head, in the middle of libcurl's work

  /// What follows an answer with this head; nil: it is the last.
  func next(_ operation: NetworkOperation, _ transfer: Transfer, _ head: ResponseHead) -> Exchange.Next? {
    if head.status == 304, let use = operation.loop.cacheUse, use.isConditional {
      return bridge.noteNotModified(use, head) ? nil : .unconditional
    }
    if let unasked = unasked(operation, head) { return .fail(unasked) }
    if head.status >= 300, head.status < 400 { return redirect(operation, head) }
    if head.status == 417, mayGoWithoutExpect(operation, transfer) {
      // Ended here, or libcurl would repeat it by itself in the middle of the exchange.
      transfer.fail(NetworkError(.status, reason: "417", underlying: .http(417), sendState: .answered))
      return .withoutExpect
    }
    guard head.status >= 400 else { return needsOwnConnection(operation, transfer, head) ? .again : nil }
    if head.status == 416, operation.sent.isForRest {
      let reason = "the server has no byte behind the part"
      return .fail(NetworkError(.resumeMismatch, reason: reason, sendState: .answered))
    }
    if head.status == 401, let next = authenticator.challenged(operation, head) { return next }
    if context.isClosing { return nil }
    let delay = repetition.delay(operation, transfer, .status(head.status), head: head)
    return delay.map { .retry(after: $0) }
  }

  /// 304 and 206 answer a question that was not put, so what they leave out is nowhere (RFC 9110 sections
  /// 15.3.7 and 15.4.5).
  private func unasked(_ operation: NetworkOperation, _ head: ResponseHead) -> NetworkError? {
    let names: [String]
    switch head.status {
    case 304: names = ["If-None-Match", "If-Modified-Since"]
    case 206: names = ["Range"]
    default: return nil
    }
    let fields = operation.loop.history?.target.headers ?? operation.sent.headers
    if names.contains(where: { fields.contains($0) || operation.engine.headers.contains($0) }) { return nil }
    return NetworkError(.protocolViolation, reason: "unasked\(head.status)", sendState: .answered)
  }

  /// Once, and only before a byte of the body has gone (RFC 9110 section 10.1.1).
  private func mayGoWithoutExpect(_ operation: NetworkOperation, _ transfer: Transfer) -> Bool {
    transfer.hasBodyToSend && transfer.exchange.bytesSent == 0
      && operation.loop.history?.refusesExpect != true && operation.sent.prepared.canReplay
  }

  /// Where an answer leads, from the origin or from the cache; nil: nowhere, it is the answer.
  func redirect(_ operation: NetworkOperation, _ head: ResponseHead) -> Exchange.Next? {
    let request = operation.sent
    let policy = request.redirects.over(operation.engine.configuration.redirects)
    do throws(NetworkError) {
      let location = try RedirectDecision.location(status: head.status, fields: head.headers, policy: policy)
      guard let location else { return nil }
      let setsCookie = operation.engine.handleSettings.keepsCookies && head.headers.contains("Set-Cookie")
      return .redirect(
        try operation.makeHistory().hop(
          to: location, status: head.status, request, policy, setsCookie: setsCookie))
    } catch {
      return .fail(error)
    }
  }

  /// True when an answer that goes to streams must come again on a connection of its own. At its head, which tells its length; in
  /// the middle of libcurl's work.
  private func needsOwnConnection(
    _ operation: NetworkOperation, _ transfer: Transfer, _ head: ResponseHead
  ) -> Bool {
    let share = transfer.exchange.readAhead.take()
    guard operation.loop.extras?.fanout != nil, head.status < 300 else { return false }
    operation.loop.origin?.speaksHTTP2 = transfer.exchange.speaksHTTP2
    guard transfer.exchange.speaksHTTP2, transfer.scope.connections != .own, !context.isClosing else {
      return false
    }
    let needed = transfer.announcedBody(head).map { Int(min($0, Int64(ReadAhead.windowBytes))) }
    let bytes = needed ?? ReadAhead.windowBytes
    share?.shrink(to: bytes)
    transfer.exchange.readAhead = share ?? context.port.driver.readAhead.share(bytes)
    guard transfer.exchange.readAhead == nil, operation.mayRepeat else { return false }
    operation.makeHistory().needsOwnConnection = true
    transfer.fail(
      NetworkError(.cancelled, reason: "asked for again on a connection of its own", sendState: .answered))
    return true
  }

  /// True when the body is of use all the same: a redirect may be stored like any answer, with the little that it has to say.
  func keepsBody(
    _ operation: NetworkOperation, _ transfer: Transfer, _ head: ResponseHead, before next: Exchange.Next
  ) -> Bool {
    switch next {
    case .redirect: break
    case .ask: return true
    case .retry: return !Repetition.impatient(operation, transfer, .status(head.status)).isEmpty
    default: return false
    }
    guard let use = operation.loop.cacheUse, use.question.request.method == .get else { return false }
    bridge.noteHead(use, transfer, head)
    if use.findings.entry == nil { return false }
    if let announced = transfer.announcedBytes, announced <= Self.redirectBytesMax { return true }
    use.findings.entry = nil
    return false
  }

  private static let redirectBytesMax: Int64 = 64 << 10
}
