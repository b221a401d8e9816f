/// Sorts error codes by whether trying again later can help.
extension FetchOutcome.Permanence {
  /// - Parameters:
  ///   - code: the name of a `NetworkError.Code`, as in `timedOut`.
  ///   - status: the HTTP status, for the code `status`.
  ///   - errno: the system's number, for `sinkFailed` and the store's codes.
  init(code: String, status: Int? = nil, errno: Int32? = nil) {
    if code == "status" {
      self = status.map(Self.mayPass) ?? true ? .forNow : .forGood
    } else if Self.localCodes.contains(code) {
      self = .local(errno: errno ?? 0)
    } else {
      self = Self.lastingCodes.contains(code) ? .forGood : .forNow
    }
  }

  /// 408, 425, 429 and 5xx, but not 501, 505 and 511, which say what the server cannot do at all.
  private static func mayPass(_ status: Int) -> Bool {
    switch status {
    case 408, 425, 429: true
    case 501, 505, 511: false
    default: status >= 500
    }
  }

  private static let localCodes: Set<String> = ["sinkFailed", "storageFull"]

  /// What the same request to the same server meets again. Codes not named here, future ones too, count as
  /// passing: a needless second try is cheaper than a file given up too early.
  private static let lastingCodes: Set<String> = [
    "invalidRequest", "invalidURL", "invalidConfiguration", "egressDenied", "tlsRejected",
    "protocolViolation", "headersTooLarge", "tooManyInformational", "ambiguousFraming", "bodyTooLarge",
    "tooManyRedirects", "redirectCycle", "redirectRefused", "badLocation", "authenticationFailed",
    "decodeFailed", "decompressionLimit", "notAnImage", "notCached",
  ]
}
