/// One line of a results file.
///
///     {"url":"https://…","output":"a.png","outcome":"done","status":200,"bytes":8192,"source":"network",
///      "attempts":1,"timings":{"queue":12,"dns":0,"connect":0,"tls":0,"firstByte":800,"total":950}}
///
/// `outcome` is `done`, `failed` (for good) or `failed-for-now`; failures have `error` and mostly `reason`.
/// Timings are microseconds. Fields without a value are left out.
struct ResultRecord: Equatable, Sendable {
  enum Outcome: String, Sendable {
    case done
    case failed
    case failedForNow = "failed-for-now"
  }

  var url: String
  var output: String?
  var outcome: Outcome
  var status: Int?
  var bytes: Int64 = 0
  var source: FetchOutcome.Source?
  var error: String?
  var reason: String?
  var attempts = 1
  var sha256: String?
  var timings: FetchOutcome.Timings?

  init(url: String, output: String? = nil, outcome: Outcome) {
    self.url = url
    self.output = output
    self.outcome = outcome
  }

  /// Nil for what was cancelled: it has no result yet.
  init?(_ item: FetchItem, _ end: FetchOutcome) {
    switch end.ending {
    case .cancelled: return nil
    case .done: outcome = .done
    case .failed(.forGood): outcome = .failed
    case .failed: outcome = .failedForNow
    }
    (url, output) = (item.url, item.output)
    (status, bytes, source) = (end.status, end.bytes, end.source)
    (error, reason, attempts) = (end.error, end.reason, end.attempts)
    (sha256, timings) = (end.sha256, end.timings)
  }
}
