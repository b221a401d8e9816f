extension StoreDecision {
  /// One exchange, as it went.
  struct Exchange {
    var request: CacheRequest
    /// All fields that were sent, also those that the engine added: Vary may name any of them.
    var requestHeaders: Headers
    var head: ResponseHead
    /// Milliseconds since 1970.
    var requestedAt: Int64
    /// When the head came; milliseconds since 1970.
    var receivedAt: Int64
    /// The body's end was marked and reached: a length or chunks, not the end of the connection, which a
    /// broken one has too. Without it nothing is stored.
    var isComplete: Bool

    init(
      request: CacheRequest, requestHeaders: Headers, head: ResponseHead, requestedAt: Int64,
      receivedAt: Int64, isComplete: Bool
    ) {
      self.request = request
      self.requestHeaders = requestHeaders
      self.head = head
      self.requestedAt = requestedAt
      self.receivedAt = receivedAt
      self.isComplete = isComplete
    }
  }
}
