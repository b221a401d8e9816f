import NetSpool

/// Frozen requests as people read them.
enum FrozenText {
  /// `#12 POST https://example.org/`
  static func name(_ request: FrozenOperation) -> String {
    "#\(request.id) \(request.method) \(request.urlMasked)"
  }

  /// `sent #12 POST https://example.org/: 200, 1 attempt`
  static func outcome(_ outcome: ThawedOutcome) -> String {
    let name = "#\(outcome.id) \(outcome.method) \(outcome.urlMasked)"
    switch outcome.result {
    case .success(let response): return "sent \(name): \(response.status), \(attempts(outcome.attempts))"
    case .failure(let error):
      let reason = error.reason.map { " (\($0))" } ?? ""
      return "dead \(name): \(error.code)\(reason), \(attempts(outcome.attempts))"
    }
  }

  /// `Authorization and Cookie`
  static func list(_ words: [String]) -> String {
    guard words.count > 1, let last = words.last else { return words.first ?? "" }
    return "\(words.dropLast().joined(separator: ", ")) and \(last)"
  }

  /// `2 attempts`
  static func attempts(_ count: Int) -> String {
    count == 1 ? "1 attempt" : "\(HumanText.count(count)) attempts"
  }

  /// Why it has not been sent yet; nil when nothing went wrong so far.
  static func trouble(_ request: FrozenOperation) -> String? {
    if let status = request.lastStatus { return "status \(status)" }
    return request.lastError?.description
  }

  /// Columns as wide as their widest entry; the last one goes on to the end of the line.
  static func table(_ rows: [[String]]) -> String {
    let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].utf8.count }.max() ?? 0 }
    return rows.map { row in
      let cells = row.enumerated().map { column, text in
        column == row.count - 1
          ? text : text + String(repeating: " ", count: widths[column] - text.utf8.count)
      }
      return cells.joined(separator: "  ") + "\n"
    }.joined()
  }

  static func waiting(_ requests: [FrozenOperation], now: Double) -> String {
    let head = ["#", "method", "bytes", "age", "expires", "attempts", "last error", "needs", "tag", "URL"]
    return table(
      [head]
        + requests.map { request in
          [
            "\(request.id)", "\(request.method)", HumanText.bytes(Int64(request.bodyBytes)),
            HumanText.span(now - request.createdAt), HumanText.span(request.expiresAt - now),
            "\(request.attempts)", trouble(request) ?? "-",
            request.secretFields.isEmpty ? "-" : request.secretFields.joined(separator: ","),
            request.tag ?? "-", request.urlMasked,
          ]
        })
  }

  static func dead(_ letters: [FrozenDeadLetter], now: Double) -> String {
    let head = ["#", "method", "died", "attempts", "reason", "tag", "URL"]
    return table(
      [head]
        + letters.map { letter in
          [
            "\(letter.id)", letter.operation.map { "\($0.method)" } ?? "-",
            "\(HumanText.span(now - letter.diedAt)) ago",
            letter.operation.map { "\($0.attempts)" } ?? "-", reason(letter),
            letter.operation?.tag ?? "-", letter.operation?.urlMasked ?? "-",
          ]
        })
  }

  /// `frozenRejected (422)`
  static func reason(_ letter: FrozenDeadLetter) -> String {
    let reason = "\(letter.error.code)" + (letter.error.reason.map { " (\($0))" } ?? "")
    return letter.isOutcomeUnknown && letter.error.code != .outcomeUnknown
      ? "\(reason), may have arrived" : reason
  }
}

extension HumanText {
  /// A length of time in its largest unit: `12 s`, `5 min`, `3 h`, `7 d`.
  static func span(_ seconds: Double) -> String {
    let whole = Int(min(max(0, seconds), 1e9).rounded())
    switch whole {
    case ..<100: return "\(whole) s"
    case ..<6_000: return "\((whole + 30) / 60) min"
    case ..<172_800: return "\((whole + 1_800) / 3_600) h"
    default: return "\((whole + 43_200) / 86_400) d"
    }
  }
}
