extension Summary {
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
      (failedForGood, "for good"), (failedForNow, "for now"), (failedLocally, "on this machine's disk"),
      (list.broken, list.broken == 1 ? "broken line" : "broken lines"),
    ]
    let counts = parts.filter { $0.0 > 0 }.map { "\(HumanText.count($0.0)) \($0.1)" }
    return counts.joined(separator: ", ") + (errors.isEmpty ? "" : " (\(commonErrors))")
  }

  /// The most frequent kinds first, five at most.
  private var commonErrors: String {
    let sorted = sortedErrors
    let shown = sorted.prefix(5).map { "\($0.kind): \(HumanText.count($0.count))" }
    return (shown + (sorted.count > 5 ? ["…"] : [])).joined(separator: ", ")
  }

  private var sortedErrors: [(kind: String, count: Int)] {
    errors.map { (kind: $0.key, count: $0.value) }
      .sorted { $0.count == $1.count ? $0.kind < $1.kind : $0.count > $1.count }
  }

  private var notes: [String] {
    let parts = [
      (list.duplicates, "duplicates skipped"), (list.resumed, "done before"),
      (list.otherShards, "left to other shards"),
      (list.renamed, "renamed because the name was taken"), (cancelled, "not fetched"),
    ]
    return parts.filter { $0.0 > 0 }.map { "\(HumanText.count($0.0)) \($0.1)" }
  }

  /// For programs: one JSON object on one line.
  func json(exitStatus: JobStatus) -> [UInt8] {
    var json = JSONText()
    json.beginObject()
    writeCounts(to: &json)
    json.field("milliseconds", Int64(seconds * 1_000))
    json.key("errors")
    json.beginObject()
    for error in sortedErrors { json.field(error.kind, error.count) }
    json.endObject()
    json.field("exitStatus", exitStatus.code)
    json.endObject()
    json.endLine()
    return json.bytes
  }

  private func writeCounts(to json: inout JSONText) {
    let counts: [(String, Int)] = [
      ("lines", list.lines), ("broken", list.broken), ("duplicates", list.duplicates),
      ("otherShards", list.otherShards), ("resumed", list.resumed), ("renamed", list.renamed),
      ("started", started), ("done", done), ("hits", hits), ("revalidated", revalidated),
      ("failed", failed), ("failedForGood", failedForGood), ("failedForNow", failedForNow),
      ("failedLocally", failedLocally), ("cancelled", cancelled), ("bytes", Int(bytes)),
    ]
    for (name, value) in counts { json.field(name, value) }
  }
}

extension ReportMerge.Totals {
  /// For people.
  var text: String {
    let parts = [
      ("URLs", summary.list.lines), ("done", summary.done), ("from the cache", summary.hits),
      ("confirmed by the origin", summary.revalidated),
      ("failed for good", summary.failedForGood), ("failed for now", summary.failedForNow),
      ("replaced by later results", replaced), ("unreadable lines", unreadable),
    ]
    let rows = parts.map { "\(HumanText.padded(HumanText.count($0.1), to: 14))  \($0.0)" }
    return rows.joined(separator: "\n")
      + "\n\(HumanText.padded(HumanText.bytes(summary.bytes), to: 14))  in all\n"
  }
}
