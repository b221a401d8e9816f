/// Whether an answer may be stored, and as what (RFC 9111 section 3).
package enum StoreDecision {
  /// What to store, but for body length and digest; nil: nothing. Then what is held for the same key is
  /// older than this answer and should go, if the answer is complete and no server error.
  package static func entry(_ exchange: Exchange, rules: CacheRules) -> StoredResponse? {
    let head = exchange.head
    guard exchange.isComplete, mayStore(exchange, rules), let vary = VaryFields(head.headers) else {
      return nil
    }
    let directives = ResponseDirectives(head.headers)
    guard permits(directives, exchange, rules) else { return nil }
    let facts = ResponseFacts(
      status: head.status, headers: head.headers, requestedAt: exchange.requestedAt,
      receivedAt: exchange.receivedAt, rules: rules)
    var stored = StoredResponse(
      version: head.version, status: head.status,
      headers: StoredFields.make(
        head.headers, directives: directives, receivedAt: exchange.receivedAt, rules: rules),
      requestedAt: exchange.requestedAt, receivedAt: exchange.receivedAt, facts: facts)
    stored.variant = vary.selected(from: exchange.requestHeaders)
    return stored
  }

  /// What the message's kind allows, whatever Cache-Control says. Set-Cookie makes an answer one user's
  /// and one moment's; it is not stored, though RFC 9111 section 7.3 would leave that to the origin.
  private static func mayStore(_ exchange: Exchange, _ rules: CacheRules) -> Bool {
    let headers = exchange.head.headers
    return exchange.request.method == .get && !exchange.request.bypassesCache
      && CacheableStatus.isStorable(exchange.head.status)
      && !headers.contains("set-cookie") && !headers.contains("set-cookie2")
  }

  private static func permits(
    _ directives: ResponseDirectives, _ exchange: Exchange, _ rules: CacheRules
  ) -> Bool {
    let status = exchange.head.status
    if directives.flags.contains(.mustUnderstand) {
      // It takes the place of `no-store` for those who know the status (RFC 9111 section 5.2.2.3).
      guard CacheableStatus.isUnderstood(status) else { return false }
    } else if directives.flags.contains(.noStore) {
      return false
    }
    if rules.isShared, !sharedPermits(directives, exchange) { return false }
    return CacheableStatus.isHeuristic(status) || isExplicit(directives, exchange.head.headers, rules)
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
    _ directives: ResponseDirectives, _ headers: HeaderFields, _ rules: CacheRules
  ) -> Bool {
    if directives.flags.contains(.isPublic) || directives.maxAge.value != nil { return true }
    if rules.isShared ? directives.sMaxAge.value != nil : directives.flags.contains(.isPrivate) {
      return true
    }
    return headers.contains("expires")
  }
}
