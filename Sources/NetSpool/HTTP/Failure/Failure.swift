/// Why an operation failed: the code, the C library's own number behind it, and how far the request got.
struct Failure: Error, Sendable {
  /// The number that the layer below gave, never remapped.
  enum Underlying: Sendable, Hashable {
    case curl(Int32), uv(Int32), lmdb(Int32), errno(Int32), http(Int)
  }

  /// How much of the request the origin may have seen.
  enum SendState: Sendable, Hashable {
    case notSent, maybeProcessed, answered
  }

  private struct Details: Sendable {
    var code: FailureCode
    var reason: String?
    var underlying: Underlying?
    var sendState: SendState
    var url: String?
    var retryAfter: Double?
    var attempts = 1
    var response: [Response] = []
  }

  /// An array of one is the standard library's own copy-on-write box: the many places that may hold a failure, and
  /// hardly ever do, are a word wide.
  private var details: [Details]

  init(
    _ code: FailureCode, reason: String? = nil, underlying: Underlying? = nil,
    sendState: SendState = .notSent
  ) {
    details = [Details(code: code, reason: reason, underlying: underlying, sendState: sendState)]
  }

  var code: FailureCode {
    get { details[0].code }
    set { details[0].code = newValue }
  }
  /// The cause in brackets: `refused`, `stall`, `hostMismatch`.
  var reason: String? {
    get { details[0].reason }
    set { details[0].reason = newValue }
  }
  var underlying: Underlying? {
    get { details[0].underlying }
    set { details[0].underlying = newValue }
  }
  var sendState: SendState {
    get { details[0].sendState }
    set { details[0].sendState = newValue }
  }
  /// The URL it was about, without secrets.
  var url: String? {
    get { details[0].url }
    set { details[0].url = newValue }
  }
  /// Seconds the origin asked us to wait.
  var retryAfter: Double? {
    get { details[0].retryAfter }
    set { details[0].retryAfter = newValue }
  }
  /// Attempts made, the last included.
  var attempts: Int {
    get { details[0].attempts }
    set { details[0].attempts = newValue }
  }

  /// The answer that came with it.
  var response: Response? {
    get { details[0].response.first }
    set { details[0].response = newValue.map { [$0] } ?? [] }
  }
}
