/// What a response may cost; every one is a default that can be set.
package struct Limits: Sendable, Hashable {
  /// A body kept in memory, in bytes: 64 MiB.
  package var bodyBytesInMemoryMax = 64 << 20
  /// A body that goes to streams, in bytes: none.
  package var bodyBytesStreamedMax: Int64 = .max
  /// How far a compressed body may unfold.
  package var decoding = DecodingLimits()
  /// Operations waiting in the queue: 10 million.
  package var operationsQueuedMax = 10_000_000

  package init() {}

  package static let standard = Limits()
}
