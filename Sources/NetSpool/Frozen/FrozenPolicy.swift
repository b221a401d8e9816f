/// How often and when a frozen request is sent again. Times in microseconds.
struct FrozenPolicy: Sendable, Hashable {
  /// Attempts that failed in a way that may pass; with the last of them it is poisoned. 12.
  var attemptsMax: UInt32 = 12
  /// Attempts that the process did not survive; with the last of them it is poisoned. 3.
  var crashAttemptsMax: UInt32 = 3
  /// The wait before attempt n + 1 is drawn evenly from 0 to `backoffBase * 2^(n - 1)`, at most `backoffMax`:
  /// full jitter, which keeps clients that failed together from coming back together. 1 s.
  var backoffBase: Microseconds = .second
  /// 300 s.
  var backoffMax: Microseconds = 300 * .second
  /// Retry-After is a floor for the wait; a longer one is cut to this. 1 h.
  var retryAfterMax: Microseconds = .hour
  /// The time that origins are trusted to remember a key: 23 h, since some forget after 24.
  var idempotencyWindow: Microseconds = 23 * .hour
  /// The answers that may pass. 408, 425, 429, 500, 502, 503, 504; add 423 and 507 for WebDAV.
  var statusesRepeated: Set<Int> = NetworkRequest.Retry.transientStatuses
  /// A poisoned request stops its lane until it is revived or discarded. Off: the lane goes on.
  var haltsLaneOnPoison = false

  static let standard = FrozenPolicy()

  /// How long to wait after so many failures in a row.
  ///
  /// - Parameter random: evenly distributed in 0..<1.
  func backoff(afterFailures failures: UInt32, random: Double) -> Microseconds {
    let doublings = min(max(Int(failures) - 1, 0), 40)
    let span = min(Double(backoffMax), Double(backoffBase) * Double(1 << doublings))
    return Microseconds(random * span)
  }

  /// The same with the origin's wish, in seconds, as a floor.
  func wait(afterFailures failures: UInt32, retryAfter: Double?, random: Double) -> Microseconds {
    let floor = min(max(retryAfter ?? 0, 0), Double(retryAfterMax / .second))
    return max(backoff(afterFailures: failures, random: random), Microseconds(floor * 1_000_000))
  }
}

/// How much may be frozen, and how long what came of it is kept.
struct FrozenLimits: Sendable, Hashable {
  /// 16 MiB.
  var bodyBytesMax = 16 << 20
  /// 4 KiB.
  var userInfoBytesMax = 4 << 10
  /// 8 KiB.
  var urlBytesMax = 8 << 10
  /// All fields together: 64 KiB.
  var headerBytesMax = 64 << 10
  /// Tag, scope and the name of the key's field, each: 1 KiB.
  var nameBytesMax = 1 << 10
  /// Lane and dedupe key, without their scope: 512 bytes.
  var keyBytesMax = 512

  /// Says what is wrong with a request; nil when it may be frozen.
  func refusal(of request: FrozenRequest) -> NetworkError? {
    func invalid(_ reason: String) -> NetworkError { NetworkError(.invalidRequest, reason: reason) }
    if request.method.isSafe { return invalid("method") }
    if request.bodyBytes > bodyBytesMax { return NetworkError(.bodyTooLarge, reason: "\(bodyBytesMax)") }
    if request.url.utf8.count > urlBytesMax { return NetworkError(.invalidURL, reason: "length") }
    if request.headers.block.count > headerBytesMax { return invalid("headers") }
    if request.userInfo.count > userInfoBytesMax { return invalid("userInfo") }
    if request.sendsKey, !request.key.isSendable { return invalid("idempotencyKey") }
    let scopeBytes = request.scope.utf8.count + 1
    if request.lane.utf8.count - scopeBytes > keyBytesMax { return invalid("lane") }
    if let key = request.dedupeKey, key.utf8.count - scopeBytes > keyBytesMax { return invalid("dedupeKey") }
    let longest = max(request.scope.utf8.count, request.keyField.utf8.count, request.tag?.utf8.count ?? 0)
    return longest <= nameBytesMax ? nil : invalid("name")
  }
}
