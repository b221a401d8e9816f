/// What a request wants of the cache. Only GET and HEAD are answered from it, and only while the engine has one.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable {
  /// The rules decide (RFC 9111): what is fresh is served without the network, what is stale is revalidated.
  /// One completion. The default.
  case automatic
  /// What is held is delivered at once (`isFinal` false), then what the origin says. The only policy that calls
  /// `onCompletion` twice.
  case cachedThenFresh
  /// What is held is served, however old it is, and brought up to date for the next time.
  case staleWhileRevalidate
  /// What is held is served, however old it is; the network is asked only when nothing is held.
  case preferCached
  /// Never asks the network: `.notCached` when nothing is held.
  case onlyIfCached
  /// Always asks the network for the whole answer, which is then stored.
  case reload
  /// Neither reads nor stores.
  case noStore
}
