/// What a request wants of the cache.
enum CoreCachePolicy: UInt8, Sendable, CaseIterable {
  /// The rules decide; one completion.
  case automatic
  /// What is held now, then what the origin says.
  case cachedThenFresh
  /// What is held now, however old, and an update for the next time.
  case staleWhileRevalidate
  /// What is held, however old; the network only when nothing is.
  case preferCached
  /// Never the network.
  case onlyIfCached
  /// Always the network; the answer is stored.
  case reload
  /// Neither read nor stored.
  case noStore
}
