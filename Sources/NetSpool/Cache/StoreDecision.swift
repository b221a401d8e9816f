/// Whether an answer may be stored, and as what (RFC 9111 section 3).
enum StoreDecision {
  /// What to store, but for the body's length and whether it was decoded; nil: nothing. Then what is held for the same key is
  /// older than this answer and should go, if the answer is complete and no server error.
  static func entry(_ exchange: Exchange, rules: CacheRules) -> StoredResponse? {
    guard exchange.isComplete, mayStore(exchange) else { return nil }
    let head = exchange.head
    let fields = AnswerFields(head.headers)
    // What sets one user's cookie is nothing to share. A private cache stores it as any other answer (RFC 9111 section
    // 7.3): its field is served again, but only what comes from the origin gets into a jar.
    guard VaryFields(fields) != nil, !(rules.isShared && fields.setsCookie) else { return nil }
    let directives = ResponseDirectives(fields)
    guard permits(directives, fields, exchange, rules) else { return nil }
    let date = ResponseFacts.saidDate(fields, receivedAt: exchange.receivedAt)
    var headers = StoredFields.make(
      fields, directives, isDated: date != nil, receivedAt: exchange.receivedAt, rules: rules)
    let hidden = StoredFields.hide(directives, from: &headers)
    var stored = StoredResponse(
      version: head.version, status: head.status, headers: headers,
      requestedAt: exchange.requestedAt, receivedAt: exchange.receivedAt,
      facts: ResponseFacts(
        status: head.status, fields: fields, directives: directives,
        date: date ?? InitialAge.seconds(exchange.receivedAt),
        requestedAt: exchange.requestedAt, receivedAt: exchange.receivedAt, rules: rules))
    if hidden.count > 0 { stored.hidden = hidden }
    return stored
  }

  /// What the message's kind allows, whatever Cache-Control says.
  private static func mayStore(_ exchange: Exchange) -> Bool {
    guard exchange.request.method == .get, !exchange.request.bypassesCache else { return false }
    guard exchange.request.directives.flags.contains(.hasRange) else {
      return CacheableStatus.isStorable(exchange.head.status)
    }
    // Such a request takes no coding that it could be asked to undo, and one that came all the same is not undone.
    return (CacheableStatus.isStorable(exchange.head.status) || exchange.head.status == 206)
      && !exchange.head.headers.contains("content-encoding")
  }

  private static func permits(
    _ directives: ResponseDirectives, _ fields: AnswerFields, _ exchange: Exchange, _ rules: CacheRules
  ) -> Bool {
    let status = exchange.head.status
    if directives.flags.contains(.mustUnderstand) {
      // It takes the place of `no-store` for those who know the status (RFC 9111 section 5.2.2.3).
      guard CacheableStatus.isUnderstood(status) else { return false }
    } else if directives.flags.contains(.noStore) {
      return false
    }
    if rules.isShared, !sharedPermits(directives, exchange) { return false }
    return CacheableStatus.isHeuristic(status) || isExplicit(directives, fields, rules)
  }

  /// An answer to POST says for how long it holds: a GET may be answered with it, if it is about the target (RFC 9110 section
  /// 9.3.3). A field of the request's body would choose for no GET.
  static func mayAnswerGet(_ head: ResponseHead, _ rules: CacheRules) -> Bool {
    guard head.status == 200 else { return false }
    let fields = AnswerFields(head.headers)
    let directives = ResponseDirectives(fields)
    let lasts = directives.maxAge.value != nil || fields.contains(.expires)
    guard lasts || (rules.isShared && directives.sMaxAge.value != nil) else { return false }
    return VaryFields(fields)?.names.contains { $0.hasPrefix("content-") } == false
  }

  /// RFC 9111 sections 3.5 and 5.2.2.7.
  private static func sharedPermits(_ directives: ResponseDirectives, _ exchange: Exchange) -> Bool {
    if directives.flags.contains(.isPrivate) { return false }
    guard exchange.requestHeaders.contains("authorization") else { return true }
    return !directives.flags.isDisjoint(with: [.mustRevalidate, .isPublic])
      || directives.sMaxAge.value != nil
  }

  /// The origin says that it may be stored, or for how long (RFC 9111 section 3, last item).
  private static func isExplicit(
    _ directives: ResponseDirectives, _ fields: AnswerFields, _ rules: CacheRules
  ) -> Bool {
    if directives.flags.contains(.isPublic) || directives.maxAge.value != nil { return true }
    if rules.isShared ? directives.sMaxAge.value != nil : directives.flags.contains(.isPrivate) {
      return true
    }
    return fields.contains(.expires)
  }

  /// An exchange, as it went.
  struct Exchange {
    var request: CacheRequest
    /// All fields that were sent, also those that the engine added: Vary may name any of them.
    var requestHeaders: Headers
    var head: ResponseHead
    /// Milliseconds since 1970.
    var requestedAt: Int64
    /// When the head came; milliseconds since 1970.
    var receivedAt: Int64
    /// The body's end was marked and reached: a length or chunks, not the end of the connection, which a
    /// broken one has too. Without it nothing is stored.
    var isComplete: Bool
  }
}

/// What an answer to an unsafe request makes worthless (RFC 9111 section 4.4).
enum Invalidation {
  /// The target of this request must be removed: the method may have changed it, and the answer is no
  /// error. An unknown method counts as unsafe (RFC 9110 section 9.2.1).
  static func applies(method: Method, status: Int) -> Bool { !method.isSafe && (200..<400).contains(status) }

  /// Further URLs to remove: what Location and Content-Location say, to be resolved against the target.
  /// Each must then pass `isTarget`. Neither is a list, so the first counts.
  static func references(_ headers: Headers) -> [String] {
    ["location", "content-location"].compactMap { headers.firstBytes($0).map(Headers.reference) }
  }

  /// Only the same origin may take away what is stored: another one could empty the cache at will.
  static func isTarget(_ reference: URLPieces, of target: URLPieces) -> Bool {
    reference.origin == target.origin
  }
}
