/// The answer to a POST, where it says that a GET of the same target would be given the same (RFC 9110 section 9.3.3). It
/// is stored for that GET, and for the sender of the POST; no POST is ever answered with it.
struct PostedAnswer {
  fileprivate let use: CacheUse
  /// Which exchange it came with: another has another head.
  fileprivate let exchangeBegan: Microseconds
  /// Behind the invalidation that the POST was itself, and before all others.
  fileprivate let askedAt: Microseconds
}

extension CacheBridge {
  /// Notes at the head of an answer to POST what will be stored of it, once what it made worthless is removed.
  ///
  /// Not for an engine with a cookie jar: whose cookies it was sent with is not known any more. Nor for a resource with a
  /// name of the caller's own, of which the answer says nothing.
  func notePosted(
    _ operation: NetworkOperation, _ transfer: Transfer, _ head: ResponseHead, _ cache: EngineCache
  ) {
    let request = operation.sent
    guard !cache.keepsCookies, request.cacheKey == nil, StoreDecision.mayAnswerGet(head, cache.rules),
      Self.isAbout(operation.loop.history?.target.url ?? request.url, head),
      let question = question(operation, request, .get, cache)
    else { return }
    let (now, began) = (MonotonicClock.now, transfer.exchange.startedAt)
    let use = CacheUse(cache, question, held: nil)
    use.findings = CacheUse.Findings(requestedAt: cache.now - (now - began) / 1_000)
    noteHead(use, transfer, head)
    operation.makeExtras().posted = PostedAnswer(use: use, exchangeBegan: began, askedAt: now + 1)
  }

  /// The answer names this URL as its own.
  private static func isAbout(_ url: String, _ head: ResponseHead) -> Bool {
    let places = head.headers.allBytes("content-location").map(Headers.reference)
    guard places.count == 1, let target = try? URLParser.parse(url).pieces,
      let place = try? URLParser.parse(places[0], relativeTo: url).pieces
    else { return false }
    return place == target
  }

  /// Stores it once its body is whole, if that is in memory.
  func storePosted(_ ending: Ending, _ transfer: Transfer, of operation: NetworkOperation) {
    guard let posted = operation.loop.extras?.posted.take(),
      posted.exchangeBegan == transfer.exchange.startedAt, let entry = posted.use.findings.entry,
      ending.failure == nil, let answer = ending.answer, transfer.completeness == .whole,
      transfer.bodyBytes <= posted.use.cache.settings.bodyBytesMax, let body = bodyInMemory(answer, transfer)
    else { return }
    guard let duty = put(entry, body, transfer, posted.use, of: operation, askedAt: posted.askedAt) else {
      return
    }
    operation.makeExtras().unwritten.append(duty)
  }
}
