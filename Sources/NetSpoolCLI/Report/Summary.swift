/// The list in numbers.
struct ListTally: Equatable, Sendable {
  /// Lines that were read and not blank or comments.
  var lines = 0
  /// Lines that could not be used; they count as failed for good.
  var broken = 0
  /// Lines that repeat an earlier one.
  var duplicates = 0
  /// Lines that are another machine's.
  var otherShards = 0
  /// Lines that an earlier run finished.
  var resumed = 0
  /// Lines whose output name was taken and got a suffix.
  var renamed = 0
}

/// The job in numbers.
struct Summary: Equatable, Sendable {
  /// What became of the list's lines before anything was fetched.
  var list = ListTally()

  var started = 0
  var done = 0
  /// Of `done`, from the cache without or after a revalidation.
  var hits = 0
  /// Of `hits`, those that the origin confirmed with a 304.
  var revalidated = 0
  var failedForGood = 0
  var failedForNow = 0
  var failedLocally = 0
  /// Not fetched because the job was stopped.
  var cancelled = 0
  /// Bytes of all bodies.
  var bytes: Int64 = 0
  var seconds = 0.0
  /// How often each error happened, as `status 404` or `timedOut stall`. At most `errorKindsMax` kinds.
  private(set) var errors: [String: Int] = [:]

  static let errorKindsMax = 64

  var failed: Int { failedForGood + failedForNow + failedLocally }
  var finished: Int { done + failed }
  var perSecond: Double { seconds > 0 ? Double(finished) / seconds : 0 }

  mutating func count(_ outcome: FetchOutcome) {
    switch outcome.ending {
    case .cancelled: cancelled += 1
    case .done: countDone(outcome)
    case .failed(let permanence):
      count(permanence)
      countError(outcome.errorKind)
    }
  }

  private mutating func countDone(_ outcome: FetchOutcome) {
    done += 1
    bytes += outcome.bytes
    if outcome.source == .cache || outcome.source == .revalidated { hits += 1 }
    if outcome.source == .revalidated { revalidated += 1 }
  }

  private mutating func count(_ permanence: FetchOutcome.Permanence) {
    switch permanence {
    case .forGood: failedForGood += 1
    case .forNow: failedForNow += 1
    case .local: failedLocally += 1
    }
  }

  mutating func countError(_ kind: String) {
    let known = errors[kind] != nil || errors.count < Self.errorKindsMax
    errors[known ? kind : "other", default: 0] += 1
  }

  /// The status that these numbers alone ask for.
  var exitStatus: JobStatus {
    if failedLocally > 0 { return .localIO }
    if failedForNow > 0 { return .failedForNow }
    return failedForGood + list.broken > 0 ? .failedForGood : .allDone
  }
}

extension FetchOutcome {
  /// `status 404`, `timedOut stall`, `offline`.
  var errorKind: String {
    let code = error ?? "unknown"
    if code == "status", let status { return "status \(status)" }
    return reason.map { "\(code) \($0)" } ?? code
  }
}
