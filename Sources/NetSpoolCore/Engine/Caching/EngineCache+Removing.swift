/// Removing: what is removed is not served again once a call returns. Any thread.
extension EngineCache {
  package func removeAll() { store.removeAll(namespace: settings.namespace) }

  /// In all scopes that this engine has used.
  package func remove(url: String) {
    guard let pieces = try? URLParser.parse(url).pieces else { return }
    for scope in knownScopes { remove(pieces, in: scope) }
  }

  package func remove(prefix: String) {
    for scope in knownScopes {
      store.removeAll(
        namespace: settings.namespace, keyPrefix: CacheKey.prefix(scope: scope) + Array(prefix.utf8))
    }
  }

  /// With the index of its variants go all of them.
  func remove(_ url: URLPieces, in scope: CacheScope) {
    store.remove(StoreKey(CacheKey.primary(scope: scope, url: url, headers: HeaderFields())))
  }

  /// What an answer to an unsafe request makes worthless (RFC 9111 section 4.4).
  func invalidate(_ url: String, after head: ResponseHead, scope: CacheScope) {
    guard let target = try? URLParser.parse(url).pieces else { return }
    let others = Invalidation.references(head.headers).compactMap {
      try? URLParser.parse($0, relativeTo: url).pieces
    }
    for pieces in [target] + others.filter({ Invalidation.isTarget($0, of: target) }) {
      for scope in Set([scope, plainScope, .anonymous]) { remove(pieces, in: scope) }
    }
  }
}
