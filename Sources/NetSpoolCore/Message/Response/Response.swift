/// A whole answer.
package struct Response: Sendable {
  package enum Source: UInt8, Sendable { case network, cache, revalidated }

  package var head: ResponseHead
  package var body: Body
  package var source: Source
  package var finalURL: String
  package var metrics: TransferMetrics
  package var streams: [SinkReport]
  package var isFinal = true
  /// Seconds since the origin made or confirmed it, for one that comes from the cache.
  package var age: Double?
}
