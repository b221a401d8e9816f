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
  /// Tag, lane, scope and dedupe key, each: 1 KiB.
  var nameBytesMax = 1 << 10

  init() {}

  /// What is wrong with a request; nil when it may be frozen.
  func refusal(of request: FrozenRequest) -> NetworkError? {
    if request.method.isSafe { return NetworkError(.invalidRequest, reason: "method") }
    if request.bodyBytes > bodyBytesMax { return NetworkError(.bodyTooLarge, reason: "\(bodyBytesMax)") }
    if request.url.utf8.count > urlBytesMax { return NetworkError(.invalidURL, reason: "length") }
    if request.headers.block.count > headerBytesMax {
      return NetworkError(.invalidRequest, reason: "headers")
    }
    if request.userInfo.count > userInfoBytesMax { return NetworkError(.invalidRequest, reason: "userInfo") }
    if request.sendsKey, !request.key.isSendable {
      return NetworkError(.invalidRequest, reason: "idempotencyKey")
    }
    let longest = max(
      request.lane.utf8.count, request.scope.utf8.count, request.keyField.utf8.count,
      request.tag?.utf8.count ?? 0, request.dedupeKey?.utf8.count ?? 0)
    return longest <= nameBytesMax ? nil : NetworkError(.invalidRequest, reason: "name")
  }
}
