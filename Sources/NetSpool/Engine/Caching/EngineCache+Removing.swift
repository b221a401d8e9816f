/// Removing: what is removed is not served again once a call returns. Any thread.
extension EngineCache {
  func removeAll() { store.removeAll(namespace: settings.namespace, where: nil) }

  /// In all scopes, and whatever fields are part of the key.
  func remove(url: String) {
    guard let pieces = try? URLParser.parse(url).pieces else { return }
    let primary = CacheKey.primary(scope: .anonymous, url: pieces, headers: Headers())
    guard let url = CacheKey.url(in: primary).map({ Array($0) }) else { return }
    store.removeAll(namespace: settings.namespace) { CacheKey.concerns(url, isPrefix: false, in: $0) }
  }

  /// In all scopes. The prefix is taken to the letter: compared with URLs as RFC 3986 section 6.2.2 normalises
  /// them.
  func remove(prefix: String) {
    let prefix = Array(prefix.utf8)
    store.removeAll(namespace: settings.namespace) { CacheKey.concerns(prefix, isPrefix: true, in: $0) }
  }

  /// What answered a request, at once: it turned out to be worthless.
  func remove(answerTo request: NetworkRequest, at url: String) {
    guard let pieces = try? URLParser.parse(url).pieces else { return }
    let fields = SentFields.make(defaults: defaults, own: request.headers, decodes: true)
    let own = request.credentialScope
    for scope in Set([scope(own: own, fields), plainScope, anonymousScope]) {
      remove(pieces, in: scope, sentWith: fields)
    }
  }

  /// With the index of its variants go all of them.
  private func remove(_ url: URLPieces, in scope: CacheScope, sentWith fields: Headers) {
    store.remove(StoreKey(CacheKey.primary(scope: scope, url: url, headers: fields)))
  }

  /// What an answer to an unsafe request makes worthless (RFC 9111 section 4.4): for who sent it, and for
  /// nobody in particular. `fields` are those that it was sent with.
  func invalidate(
    _ url: String, after head: ResponseHead, scope: CacheScope, sentWith fields: Headers
  ) {
    guard let target = try? URLParser.parse(url).pieces else { return }
    let others = Invalidation.references(head.headers).compactMap {
      try? URLParser.parse($0, relativeTo: url).pieces
    }
    for pieces in [target] + others.filter({ Invalidation.isTarget($0, of: target) }) {
      for scope in Set([scope, plainScope, anonymousScope]) {
        for sent in Set([fields, Headers()]) { remove(pieces, in: scope, sentWith: sent) }
      }
    }
  }
}
