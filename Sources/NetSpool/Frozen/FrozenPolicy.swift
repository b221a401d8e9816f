/// How often and when a frozen request is sent again: what `FreezeConfiguration` says, with times in microseconds.
struct FrozenPolicy: Sendable, Hashable {
  var attemptsMax: UInt32 = 12
  var crashAttemptsMax: UInt32 = 3
  var backoffBase: Microseconds = .second
  var backoffMax: Microseconds = 300 * .second
  /// A longer Retry-After is cut to this.
  var retryAfterMax: Microseconds = .hour
  /// 23 h, since some origins forget a key after 24.
  var idempotencyWindow: Microseconds = 23 * .hour
  var statusesRepeated: Set<Int> = NetworkRequest.Retry.transientStatuses
  var haltsLaneOnPoison = false

  static let standard = FrozenPolicy()

  /// How long to wait after so many failures in a row: full jitter, which keeps clients that failed together from coming
  /// back together.
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
