internal import Synchronization

/// A fresh hit needs no loop: it is answered on the thread that enqueues.
extension EngineCache {
  /// Nil when there is none, or when finding out takes the loop: an unusual URL, a redirect, any policy that may
  /// ask the network all the same.
  func freshAnswer(to request: Request) -> Response? {
    guard request.method == .get, let originBytes = PlainURL.canonicalOriginLength(request.url),
      !request.hasExtras || isPlain(request.extra)
    else { return nil }
    let url = request.url.utf8.span
    let fields = request.headers.count == 0 ? nil : ownFields(request)
    guard
      let question = question(
        request, method: .get, origin: url.extracting(first: originBytes),
        target: url.extracting(droppingFirst: originBytes), fields: fields),
      let held = held(for: question)
    else { return nil }
    let now = now
    guard !(300..<400).contains(held.stored.status),
      case .serve = CacheDecision.make(for: question.request, stored: held.stored, now: now)
    else { return nil }
    return held.response(from: .cache, url: request.url, now: now, withBody: true)
  }

  private func isPlain(_ extra: RequestExtras) -> Bool {
    guard case .none = extra.prepared else { return false }
    return !extra.resumes && extra.parameters.isEmpty
  }

  private func ownFields(_ request: Request) -> HeaderFields {
    SentFields.make(defaults: defaults, own: request.headers, decodes: !request.headers.contains("Range"))
  }
}

extension Operation {
  /// Any thread: ends it with an answer that needed no loop. False when it must go there: it has streams to feed,
  /// others to wait for, or has been cancelled.
  func conclude(_ request: Request, _ response: Response) -> Bool {
    guard !context.isClosed.load(ordering: .acquiring) else { return false }
    let (isMine, hasDependents) = shared.withLock { shared in
      guard shared.outcome == nil, shared.streams.isEmpty, shared.dependencies.isEmpty else {
        return (false, false)
      }
      shared.request = request
      shared.outcome = .response(response)
      shared.state = .finished
      return (true, shared.hasDependents)
    }
    guard isMine else { return false }
    if hasDependents { context.driver.perform { [self] core in core.release(id) } }
    context.deliverSoon(self)
    return true
  }
}
