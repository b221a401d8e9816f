/// A whole answer.
struct Response: Sendable {
  enum Source: UInt8, Sendable { case network, cache, revalidated }

  var head: CoreResponseHead
  var body: Body
  var source: Source
  var finalURL: String
  var metrics: CoreTransferMetrics
  var streams: [SinkReport]
  var isFinal = true
  /// Seconds since the origin made or confirmed it, for one that comes from the cache.
  var age: Double?
}
