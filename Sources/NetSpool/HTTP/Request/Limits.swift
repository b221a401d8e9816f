/// What a response may cost; every one is a default that can be set.
struct Limits: Sendable, Hashable {
  /// A body kept in memory, in bytes: 64 MiB.
  var bodyBytesInMemoryMax = 64 << 20
  /// A body that goes to streams, in bytes: none.
  var bodyBytesStreamedMax: Int64 = .max
  /// How far a compressed body may unfold.
  var decoding = DecodingLimits()
  /// Operations waiting in the queue: 10 million.
  var operationsQueuedMax = 10_000_000

  init() {}

  static let standard = Limits()
}
