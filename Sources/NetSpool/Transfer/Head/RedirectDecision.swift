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
  /// - setsCookie: the answer has set one that will be sent, so that the same URL is another question.
  ///
  /// Throws `redirectRefused` (scheme, downgrade, body), `redirectCycle` and `tooManyRedirects`.
  static func hop(
    status: Int, method: Method, hasBody: Bool, from current: URLPieces, to target: URLPieces,
    history: RedirectHistory, policy: NetworkRequest.Redirects, setsCookie: Bool = false
  ) throws(NetworkError) -> RedirectHop {
    try checkScheme(from: current, to: target, status: status, policy: policy)
    let becomesGet = becomesGet(status: status, method: method)
    let method = becomesGet ? Method.get : method
    guard setsCookie || !history.holds(method: method, url: target) else {
      throw failure(.redirectCycle, nil, status)
    }
    guard history.hops < policy.limit else { throw failure(.tooManyRedirects, String(policy.limit), status) }
    let isSameOrigin = current.origin == target.origin
    let keepsBody = hasBody && !becomesGet
    if keepsBody { try checkBody(status: status, isSameOrigin: isSameOrigin, policy: policy) }
    return RedirectHop(
      method: method, url: target, keepsBody: keepsBody, isSameOrigin: isSameOrigin,
      dropsContentFields: becomesGet)
  }

  private static func isFollowed(_ status: Int) -> Bool { 301...303 ~= status || 307...308 ~= status }

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
    guard target.scheme == "http" || target.scheme == "https" else { throw refused(.scheme, status) }
    guard current.scheme != "https" || target.scheme == "https" || policy.allowsDowngrade else {
      throw refused(.downgrade, status)
    }
  }

  /// Only 307 and 308 promise that the body is wanted again, and only the same origin may see it unasked.
  /// The method stays, and sending, say, a PUT without its body would empty what it should fill: so the
  /// redirect is refused.
  private static func checkBody(
    status: Int, isSameOrigin: Bool, policy: NetworkRequest.Redirects
  ) throws(NetworkError) {
    guard status == 307 || status == 308, isSameOrigin || policy.resendsBodyAcrossOrigins else {
      throw refused(.body, status)
    }
  }

  static func bad(_ reason: String, _ status: Int) -> NetworkError { failure(.badLocation, reason, status) }

  static func refused(_ cause: NetworkError.Cause, _ status: Int) -> NetworkError {
    NetworkError(.redirectRefused, cause: cause, underlying: .http(status), sendState: .answered)
  }

  static func failure(_ code: NetworkError.Code, _ reason: String?, _ status: Int) -> NetworkError {
    NetworkError(code, reason: reason, underlying: .http(status), sendState: .answered)
  }
}

/// What one operation has asked for so far. Two equal questions in one chain are a cycle.
///
/// The method counts: a POST answered by 303 to its own URL is a common way to end a form, and asking
/// that URL once by GET is not a cycle.
struct RedirectHistory: Sendable {
  private var visits: [(method: Method, url: URLPieces)]

  /// Begins with the request as the user made it.
  init(method: Method, url: URLPieces) { visits = [(method, url)] }

  /// Redirects followed so far.
  var hops: Int { visits.count - 1 }

  /// A list, not a set: it holds at most a dozen elements.
  func holds(method: Method, url: URLPieces) -> Bool {
    visits.contains { $0.method == method && $0.url == url }
  }

  mutating func append(method: Method, url: URLPieces) { visits.append((method, url)) }
}

/// The next request of a redirected operation.
struct RedirectHop: Sendable, Hashable {
  let method: Method
  let url: URLPieces
  /// The body is sent again.
  let keepsBody: Bool
  /// The target shares scheme, host and port with the request that was redirected.
  let isSameOrigin: Bool
  /// The method became GET, so nothing that described a body is left.
  let dropsContentFields: Bool

  /// True if a request field goes along. Across origins only an allow-list does, because no list of
  /// secrets is ever complete: `X-Api-Key` is as secret as `Authorization`.
  func keeps(_ name: some Collection<UInt8>) -> Bool {
    let name = name.map(\.asciiLowercased)
    let isContent = name.starts(with: "content-".utf8)
    if isSameOrigin { return !(isContent && dropsContentFields) }
    if isContent { return keepsBody }
    return name.elementsEqual("accept".utf8) || name.starts(with: "accept-".utf8)
      || name.elementsEqual("user-agent".utf8) || name.elementsEqual("range".utf8)
      || name.elementsEqual("if-range".utf8)
  }

  /// The fields that go along, in their order.
  func keptFields(of fields: Headers) -> Headers { fields.keeping { keeps($0.nameBytes) } }
}

/// Checks on the Location field before any URL parser sees it.
enum LocationText {
  /// The text to resolve, with bytes that are no UTF-8 escaped as they are: which coding they are in is the origin's affair.
  /// Throws `badLocation` (empty, tooLong, control) and, since libcurl's
  /// parser cannot name the scheme of `javascript:x` and `data:,x`, already `redirectRefused(scheme)`.
  static func checked(_ value: ArraySlice<UInt8>, status: Int) throws(NetworkError) -> String {
    guard !value.isEmpty else { throw RedirectDecision.bad("empty", status) }
    guard value.count <= RedirectDecision.locationBytesMax else {
      throw RedirectDecision.bad("tooLong", status)
    }
    guard !value.contains(where: \.isControl), !holdsEncodedLineEnd(value) else {
      throw RedirectDecision.bad("control", status)
    }
    var rest = value
    if let scheme = URLReference.takeScheme(&rest), scheme != "http", scheme != "https" {
      throw RedirectDecision.refused(.scheme, status)
    }
    return Headers.reference(value)
  }

  /// `%00`, `%0a` or `%0d` before the query: an attempt to split lines in a program that decodes it. In a query
  /// they are ordinary, forms encode line ends so.
  private static func holdsEncodedLineEnd(_ value: ArraySlice<UInt8>) -> Bool {
    let path = value.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    for index in path.indices.dropLast(2) where path[index] == 0x25 && path[index + 1] == 0x30 {
      let low = path[index + 2].asciiLowercased
      if low == 0x30 || low == UInt8(ascii: "a") || low == UInt8(ascii: "d") { return true }
    }
    return false
  }
}
