/// What a lookup found.
struct StoreHit: Sendable {
  let body: LeasedBytes
  /// Which body it is; no other ever has the same. For `CacheStore.replaceMetadata(_:_:ifBodyIs:)`.
  let bodyID: UInt64
  /// Metadata newer than what the lease covers, not yet written.
  private let newMetadata: [UInt8]?

  init(body: LeasedBytes, bodyID: UInt64, newMetadata: [UInt8]? = nil) {
    self.body = body
    self.bodyID = bodyID
    self.newMetadata = newMetadata
  }

  /// A copy of what was stored beside the body.
  var metadata: [UInt8] { withMetadata { [UInt8]($0) } }

  /// Lends what was stored beside the body, without a copy.
  func withMetadata<Result, Problem: Error>(
    _ body: (RawSpan) throws(Problem) -> Result
  ) throws(Problem) -> Result {
    if let newMetadata { return try body(newMetadata.rawBytes) }
    return try self.body.withMetadata(body)
  }
}
