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
  func refusal(of request: FrozenRequest) -> Failure? {
    if request.method.isSafe { return Failure(.invalidRequest, reason: "method") }
    if request.bodyBytes > bodyBytesMax { return Failure(.bodyTooLarge, reason: "\(bodyBytesMax)") }
    if request.url.utf8.count > urlBytesMax { return Failure(.invalidURL, reason: "length") }
    if request.headers.block.count > headerBytesMax { return Failure(.invalidRequest, reason: "headers") }
    if request.userInfo.count > userInfoBytesMax { return Failure(.invalidRequest, reason: "userInfo") }
    if request.sendsKey, !request.key.isSendable { return Failure(.invalidRequest, reason: "idempotencyKey") }
    let longest = max(
      request.lane.utf8.count, request.scope.utf8.count, request.keyField.utf8.count,
      request.tag?.utf8.count ?? 0, request.dedupeKey?.utf8.count ?? 0)
    return longest <= nameBytesMax ? nil : Failure(.invalidRequest, reason: "name")
  }
}
