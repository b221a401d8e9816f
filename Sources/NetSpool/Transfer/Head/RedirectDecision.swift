/// What to do with a 3xx answer: a pure decision in two steps, because between them libcurl's URL parser
/// resolves the Location against the current URL (RFC 9110 section 15.4).
///
/// 1. `location(status:fields:policy:)` gives the text to resolve, or nil: the answer stands.
/// 2. `hop(...)` gives the next request.
enum RedirectDecision {
  /// Bytes of a Location; 8 KiB.
  static let locationBytesMax = 8 * 1024

  /// The Location to resolve; nil when this answer is not a redirect to follow: another status (300, 304,
  /// 305 and 306 too), no Location, or a policy that follows none.
  ///
  /// Throws `badLocation` and `redirectRefused(scheme)`.
  static func location(
    status: Int, fields: Headers, policy: NetworkRequest.Redirects
  ) throws(NetworkError) -> String? {
    guard policy.follows, isFollowed(status) else { return nil }
    let values = fields.allBytes("location")
    guard let value = values.first else { return nil }
    guard values.allSatisfy({ $0 == value }) else { throw bad("repeated", status) }
    return try LocationText.checked(value, status: status)
  }

  /// The request that follows, for a target that libcurl has resolved.
  ///
  /// Throws `redirectRefused` (scheme, downgrade, body), `redirectCycle` and `tooManyRedirects`.
  static func hop(
    status: Int, method: Method, hasBody: Bool, from current: URLPieces, to target: URLPieces,
    history: RedirectHistory, policy: NetworkRequest.Redirects
  ) throws(NetworkError) -> RedirectHop {
    try checkScheme(from: current, to: target, status: status, policy: policy)
    let becomesGet = becomesGet(status: status, method: method)
    let method = becomesGet ? Method.get : method
    guard !history.holds(method: method, url: target) else {
      throw failure(.redirectCycle, nil, status)
    }
    guard history.hops < policy.limit else {
      throw failure(.tooManyRedirects, String(policy.limit), status)
    }
    let isSameOrigin = current.origin == target.origin
    let keepsBody = hasBody && !becomesGet
    if keepsBody {
      try checkBody(status: status, isSameOrigin: isSameOrigin, policy: policy)
    }
    return RedirectHop(
      method: method, url: target, keepsBody: keepsBody, isSameOrigin: isSameOrigin,
      dropsContentFields: becomesGet)
  }

  static func isFollowed(_ status: Int) -> Bool {
    switch status {
    case 301, 302, 303, 307, 308: true
    default: false
    }
  }

  /// RFC 9110 sections 15.4.2 to 15.4.4: 303 asks for the result by GET; POST turned into GET on 301 and
  /// 302 before the standard could forbid it, and only POST.
  private static func becomesGet(status: Int, method: Method) -> Bool {
    switch status {
    case 303: method != .head
    case 301, 302: method == .post
    default: false
    }
  }

  private static func checkScheme(
    from current: URLPieces, to target: URLPieces, status: Int, policy: NetworkRequest.Redirects
  ) throws(NetworkError) {
    guard target.scheme == "http" || target.scheme == "https" else {
      throw failure(.redirectRefused, "scheme", status)
    }
    guard current.scheme != "https" || target.scheme == "https" || policy.allowsDowngrade else {
      throw failure(.redirectRefused, "downgrade", status)
    }
  }

  /// Only 307 and 308 promise that the body is wanted again, and only the same origin may see it unasked.
  /// The method stays, and sending, say, a PUT without its body would empty what it should fill: so the
  /// redirect is refused.
  private static func checkBody(
    status: Int, isSameOrigin: Bool, policy: NetworkRequest.Redirects
  ) throws(NetworkError) {
    guard status == 307 || status == 308, isSameOrigin || policy.resendsBodyAcrossOrigins else {
      throw failure(.redirectRefused, "body", status)
    }
  }

  static func bad(_ reason: String, _ status: Int) -> NetworkError { failure(.badLocation, reason, status) }

  static func failure(_ code: NetworkError.Code, _ reason: String?, _ status: Int) -> NetworkError {
    NetworkError(code, reason: reason, underlying: .http(status), sendState: .answered)
  }
}
