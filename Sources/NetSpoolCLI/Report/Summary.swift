import NetSpool

struct ListTally: Equatable, Sendable {
  /// Lines that were read and not blank or comments.
  var lines = 0
  /// Lines that could not be used; they count as failed for good.
  var broken = 0
  var duplicates = 0
  /// Lines that are another machine's.
  var otherShards = 0
  var resumed = 0
  /// Lines whose output name was taken and got a suffix.
  var renamed = 0
}

struct Summary: Equatable, Sendable {
  /// What became of the list's lines before anything was fetched.
  var list = ListTally()

  var started = 0
  var done = 0
  /// Of `done`, from the cache without or after a revalidation.
  var hits = 0
  /// Of `hits`, those that the origin confirmed with a 304.
  var revalidated = 0
  /// Of `done`, files that are as new as what the origin has, with `--newer`.
  var unchanged = 0
  var failedForGood = 0
  var failedForNow = 0
  var failedLocally = 0
  /// Not fetched because the job was stopped.
  var cancelled = 0
  /// Answers that the cache gave up.
  var unstored = 0
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
    case .failed(.forGood): failedForGood += 1
    case .failed(.forNow): failedForNow += 1
    case .failed(.local): failedLocally += 1
    }
    guard case .failed = outcome.ending else { return }
    // Digests are no two alike.
    let isDigest = outcome.error == NetworkError.Code.digestMismatch.description
    let kind = isDigest ? outcome.error ?? "" : outcome.errorKind
    let isKnown = errors[kind] != nil || errors.count < Self.errorKindsMax
    errors[isKnown ? kind : "other", default: 0] += 1
  }

  private mutating func countDone(_ outcome: FetchOutcome) {
    done += 1
    // With the cache's answer comes the cache's status.
    if outcome.status == 304 { return unchanged += 1 }
    bytes += outcome.bytes
    if outcome.source == .cache || outcome.source == .revalidated { hits += 1 }
    if outcome.source == .revalidated { revalidated += 1 }
  }

  /// The status that these numbers alone ask for.
  var exitStatus: JobStatus {
    if failedLocally > 0 { return .localIO }
    if failedForNow > 0 { return .failedForNow }
    return failedForGood + list.broken > 0 ? .failedForGood : .allDone
  }

  /// For people: two to four short lines.
  var text: String {
    var lines = [headline]
    if failed + list.broken > 0 { lines.append("failed: " + failures) }
    let notes = self.notes
    if !notes.isEmpty { lines.append(notes.joined(separator: ", ")) }
    return lines.joined(separator: "\n") + "\n"
  }

  private var headline: String {
    let confirmed = revalidated > 0 ? ", \(HumanText.count(revalidated)) of them confirmed by the origin" : ""
    let from = hits > 0 ? " (\(HumanText.count(hits)) from the cache\(confirmed))" : ""
    return "done: \(HumanText.count(done))\(from), \(HumanText.bytes(bytes)) in "
      + "\(HumanText.decimal(seconds)) s, \(HumanText.rate(perSecond)) per second"
  }

  private var failures: String {
    let parts = [
      (failedForGood, "for good"), (failedForNow, "for now"), (failedLocally, "on this machine"),
      (list.broken, list.broken == 1 ? "broken line" : "broken lines"),
    ]
    let counts = parts.filter { $0.0 > 0 }.map { "\(HumanText.count($0.0)) \($0.1)" }
    return counts.joined(separator: ", ") + (errors.isEmpty ? "" : " (\(commonErrors))")
  }

  /// The most frequent kinds first, five at most.
  private var commonErrors: String {
    let sorted = sortedErrors
    let shown = sorted.prefix(5).map { "\(FailureWords.phrase($0.kind)): \(HumanText.count($0.count))" }
    return (shown + (sorted.count > 5 ? ["…"] : [])).joined(separator: ", ")
  }

  private var sortedErrors: [(kind: String, count: Int)] {
    errors.map { (kind: $0.key, count: $0.value) }.sorted {
      $0.count == $1.count ? $0.kind < $1.kind : $0.count > $1.count
    }
  }

  private var notes: [String] {
    let parts = [
      (unchanged, unchanged == 1 ? "file is as new as before" : "files are as new as before"),
      (list.duplicates, list.duplicates == 1 ? "duplicate skipped" : "duplicates skipped"),
      (list.resumed, "done before"), (list.otherShards, "left to other shards"),
      (list.renamed, "renamed because the name was taken"), (cancelled, "not fetched"),
      (unstored, "not kept: the disk of the cache did not take them as fast"),
    ]
    return parts.filter { $0.0 > 0 }.map { "\(HumanText.count($0.0)) \($0.1)" }
  }

  /// For programs: one JSON object on one line.
  func json(exitStatus: JobStatus) -> [UInt8] {
    JSONText.object { json in
      writeCounts(to: &json)
      json.field("milliseconds", Int64(seconds * 1_000))
      json.object("errors") { json in for error in sortedErrors { json.field(error.kind, error.count) } }
      json.field("exitStatus", exitStatus.code)
    } + [0x0A]
  }

  private func writeCounts(to json: inout JSONText) {
    let counts: [(String, Int)] = [
      ("lines", list.lines), ("broken", list.broken), ("duplicates", list.duplicates),
      ("otherShards", list.otherShards), ("resumed", list.resumed), ("renamed", list.renamed),
      ("started", started), ("done", done), ("hits", hits), ("revalidated", revalidated), ("failed", failed),
      ("failedForGood", failedForGood), ("failedForNow", failedForNow), ("failedLocally", failedLocally),
      ("cancelled", cancelled), ("unchanged", unchanged), ("bytes", Int(bytes)),
    ]
    for (name, value) in counts { json.field(name, value) }
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

extension ReportMerge.Totals {
  var text: String {
    let parts = [
      ("URLs", summary.list.lines), ("done", summary.done), ("from the cache", summary.hits),
      ("confirmed by the origin", summary.revalidated), ("failed for good", summary.failedForGood),
      ("failed for now", summary.failedForNow), ("replaced by later results", replaced),
      ("unreadable lines", unreadable),
    ]
    let rows = parts.map { "\(HumanText.padded(HumanText.count($0.1), to: 14))  \($0.0)" }
    return rows.joined(separator: "\n")
      + "\n\(HumanText.padded(HumanText.bytes(summary.bytes), to: 14))  in all\n"
  }
}

struct JobStatus: Equatable, Sendable {
  let code: Int32

  static let allDone = JobStatus(code: 0)
  /// Some failed, and all of those for good: a second run would not help.
  static let failedForGood = JobStatus(code: 1)
  /// Some failed for now, possibly beside others that failed for good: run again.
  static let failedForNow = JobStatus(code: 2)
  static let tooManyErrors = JobStatus(code: 3)
  /// The command line makes no sense (`EX_USAGE`).
  static let usage = JobStatus(code: 64)
  /// A list, output or results file could not be read or written (`EX_IOERR`).
  static let localIO = JobStatus(code: 74)
  /// Drained after a signal: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP.
  static func signal(_ number: Int32) -> JobStatus { JobStatus(code: 128 + number) }

  var isSignal: Bool { code > 128 }
}
