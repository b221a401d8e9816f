/// Removing: what is removed is not served again once a call returns, and what was asked for before is not stored. Any
/// thread.
extension EngineCache {
  /// In all scopes.
  func remove(tag: String) { removeAll(Self.tagMark, tag) }

  /// In all scopes. Time: milliseconds since 1970.
  func remove(by time: Int64) { removeAll(Self.timeMark, String(time)) }

  func removeAll() {
    recent.forget()
    store.removeAll(namespace: settings.namespace)
  }

  private func removeAll(_ mark: UInt8, _ text: String) {
    recent.forget()
    store.removeAll(namespace: settings.namespace, matching: [mark] + Array(text.utf8))
  }

  /// What the patterns of removals mean, in whatever process.
  static func match(_ pattern: [UInt8]) -> KeyMatch {
    let text = Array(pattern.dropFirst())
    switch pattern.first {
    case tagMark: return { _, metadata in StoredResponse.hasTag(text, in: metadata) }
    case timeMark:
      let time = Int64(String(decoding: text, as: UTF8.self)) ?? .min
      return { _, metadata in StoredResponse.isFrom(by: time, metadata) }
    default: return { key, _ in CacheKey.concerns(prefix: text, in: key) }
    }
  }

  private static let tagMark = UInt8(ascii: "t")
  private static let timeMark = UInt8(ascii: "o")
  private static let prefixMark = UInt8(ascii: "p")

  /// In all scopes, and whatever fields are part of the key. Waits for the disk.
  func remove(url: String) {
    guard let pieces = try? URLParser.parse(url).pieces else { return }
    recent.forget()
    store.removeResource(resource(pieces))
    store.flush()
  }

  /// In all scopes. The prefix is taken to the letter: compared with URLs as RFC 3986 section 6.2.2 normalises
  /// them.
  func remove(prefix: String) { removeAll(Self.prefixMark, prefix) }

  /// What answered a request, at once: it turned out to be worthless.
  func remove(answerTo request: NetworkRequest, at url: String) {
    if let custom = request.cacheKey { store.removeResource(resource(custom: custom)) }
    if let pieces = try? URLParser.parse(url).pieces { store.removeResource(resource(pieces)) }
  }

  /// Names the resource of a URL in the digests of the store's keys.
  func resource(_ url: URLPieces) -> UInt64 { StoreKey.resource(CacheKey.resource(url).rawBytes, part: part) }

  /// The same for a key of a caller's own.
  private func resource(custom: String) -> UInt64 {
    StoreKey.resource(Array(KeyText.escaped(custom).utf8).rawBytes, part: part)
  }

  /// Removes what an answer to an unsafe request makes worthless (RFC 9111 section 4.4), for all senders: the fields of
  /// the request that changed it say nothing of those of the requests that it changed it for. Done once the disk knows,
  /// or when nothing was held.
  func invalidate(_ targets: [URLPieces], custom: String? = nil) -> StoreDuty {
    var resources = targets.map { resource($0) }
    if let custom { resources.append(resource(custom: custom)) }
    var isFound = false
    for resource in resources where store.removeResource(resource) { isFound = true }
    let store = store
    return StoreDuty(cache: self) { [isFound, resources] done in
      if isFound || resources.contains(where: { store.holds($0) }) { store.afterCommit(done) } else { done() }
    }
  }
}

extension Invalidation {
  /// The target of an unsafe request and what its answer refers to, of the same origin.
  static func targets(_ url: String, _ head: ResponseHead) -> [URLPieces] {
    guard let target = try? URLParser.parse(url).pieces else { return [] }
    let others = references(head.headers).compactMap { try? URLParser.parse($0, relativeTo: url).pieces }
    return [target] + others.filter { $0 != target && isTarget($0, of: target) }
  }
}
