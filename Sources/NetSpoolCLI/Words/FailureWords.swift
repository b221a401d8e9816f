import NetSpool

/// What a failure is called at a shell. Codes are for machines: results, summaries in JSON and archives have them.
enum FailureWords {
  /// - Parameter target: what was to be connected to, or written.
  static func sentence(_ code: String, _ reason: String?, target: String? = nil) -> String {
    known(code, reason, target) ?? reason.map { "\(code) \($0)" } ?? code
  }

  /// Nil for a code that no word stands for.
  static func known(_ code: String, _ reason: String?, _ target: String?) -> String? {
    switch code {
    case "connectFailed":
      "cannot connect\(target.map { " to \($0)" } ?? "")\(behind(reason.map { connections[$0] ?? $0 }))"
    case "sinkFailed": "cannot write\(target.map { " \($0)" } ?? ""): \(reason ?? "unknown")"
    case "digestMismatch": "\(target ?? "the body") is not what sha256= says"
    case "resolveFailed": "there is no such host"
    case "timedOut": times[reason ?? ""] ?? "it took too long"
    case "connectionLost", "transportFailed": "the connection was lost"
    case "bodyTruncated", "truncatedHeaders": "the answer broke off"
    case "bodyTooLarge": "the body is too long\(behind(reason))"
    case "tlsRejected": "no safe connection\(behind(reason))"
    case "decodeFailed": reason ?? "the body cannot be read"
    case "invalidURL": "the URL cannot be used\(behind(reason))"
    case "tooManyRedirects": "too many redirects"
    case "redirectCycle": "redirects that lead in a circle"
    case "redirectRefused": "a redirect that is not followed\(behind(reason))"
    case "proxyFailed": "the proxy failed\(behind(reason))"
    case "offline": "there is no network"
    case "authenticationFailed": "the server did not let us in"
    case "storageFull": "the disk is full"
    case "uploadSourceFailed": "what is to be sent cannot be read\(behind(reason))"
    case "uploadLengthMismatch": "what is to be sent is not as long as it was\(behind(reason))"
    case "frozenRejected": "the server has refused it\(behind(reason.map { "status \($0)" }))"
    case "engineStartFailed": "nothing can be sent from here\(behind(reason))"
    case "robots": "the server wants no machines there\(behind(reason))"
    case "resumeMismatch": "the rest does not belong to the part that is there"
    default: nil
    }
  }

  /// The same of a kind that a summary counts: `timedOut stall`.
  static func phrase(_ kind: String) -> String {
    let words = kind.split(separator: " ", maxSplits: 1).map(String.init)
    return words.first == "status" || words.isEmpty ? kind : sentence(words[0], words.dropFirst().first)
  }

  /// `Retry-After` for people; nil without one.
  static func comeBack(_ field: String?) -> String? {
    guard let field else { return nil }
    guard let seconds = Int64(field) else {
      return "the server asks to come back at \(HumanText.harmless(field))"
    }
    // Of a number that counts no time a span would overflow.
    let span = TimeSpan(seconds: Double(min(max(0, seconds), 1_000_000_000)))
    return "the server asks to come back in \(span)"
  }

  private static let connections = [
    "refused": "connection refused", "reset": "connection reset", "unreachable": "no way leads there",
  ]

  private static let times = [
    "connect": "no connection in time", "headers": "no answer in time", "stall": "nothing came for too long",
  ]

  private static func behind(_ reason: String?) -> String { reason.map { ": \($0)" } ?? "" }
}

extension FetchOutcome {
  func sentence(_ item: FetchItem) -> String {
    var reason = reason
    if case .failed(.local(let errno)) = ending, errno != 0 { reason = IOFailure.sentence(errno) }
    let code = error ?? "unknown"
    if code == "status", let status {
      return "status \(status)" + (FailureWords.comeBack(retryAfter).map { ", \($0)" } ?? "")
    }
    let target = code == "connectFailed" ? URLText.authority(finalURL ?? item.url) : item.output ?? name
    return FailureWords.sentence(code, reason, target: target)
  }
}

extension NetworkError {
  /// The server has refused it, and that it stays whatever happened to the page that came with it.
  var isRefusal: Bool {
    guard let response, response.status >= 400 else { return false }
    return ![.cancelled, .engineClosed, .sinkFailed, .resumeMismatch].contains(code)
  }

  var sentence: String {
    let url = url.map { HumanText.harmless($0) }
    let saysMore: [Code] = [.authenticationFailed, .proxyFailed, .frozenRejected]
    if code == .status || isRefusal && !saysMore.contains(code), let response {
      let comeBack = FailureWords.comeBack(response.headers["Retry-After"])
      return (url.map { "\($0): " } ?? "") + "status \(response.status)" + (comeBack.map { ", \($0)" } ?? "")
    }
    let words = FailureWords.known(code.description, reason, url.map(URLText.authority))
    guard let text = words else { return "\(self)" }
    return code == .connectFailed ? text : (url.map { "\($0): " } ?? "") + text
  }
}
