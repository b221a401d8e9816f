/// Why an operation failed: the code, the C library's own number behind it, and how far the request got.
package struct Failure: Error, Sendable {
  /// The number that the layer below gave, never remapped.
  package enum Underlying: Sendable, Hashable {
    case curl(Int32), uv(Int32), lmdb(Int32), errno(Int32), http(Int)
  }

  /// How much of the request the origin may have seen.
  package enum SendState: Sendable, Hashable {
    case notSent, maybeProcessed, answered
  }

  package var code: FailureCode
  /// The cause in brackets: `refused`, `stall`, `hostMismatch`.
  package var reason: String?
  package var underlying: Underlying?
  package var sendState: SendState
  /// The URL it was about, without secrets.
  package var url: String?
  /// Seconds the origin asked us to wait.
  package var retryAfter: Double?
  /// Attempts made, the last included.
  package var attempts = 1
  private var responses: [Response] = []

  package init(
    _ code: FailureCode, reason: String? = nil, underlying: Underlying? = nil,
    sendState: SendState = .notSent
  ) {
    self.code = code
    self.reason = reason
    self.underlying = underlying
    self.sendState = sendState
  }

  /// The answer that came with it; an array of none or one is the standard library's indirect optional.
  package var response: Response? {
    get { responses.first }
    set { responses = newValue.map { [$0] } ?? [] }
  }
}
