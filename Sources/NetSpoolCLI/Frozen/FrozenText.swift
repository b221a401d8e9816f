import NetSpool

enum FrozenText {
  /// `#12 POST https://example.org/`
  static func name(_ request: FrozenOperation) -> String {
    "#\(request.id) \(request.method) \(URLText.masked(request.url))"
  }

  /// `sent #12 POST https://example.org/: 200, 1 attempt`
  static func outcome(_ outcome: ThawedOutcome) -> String {
    let name = "#\(outcome.id) \(outcome.method) \(URLText.masked(outcome.url))"
    let attempts = HumanText.plural(outcome.attempts, "attempt", "attempts")
    switch outcome.result {
    case .success(let response): return "sent \(name): \(response.status), \(attempts)"
    case .failure(let error): return "dead \(name): \(text(error)), \(attempts)"
    }
  }

  /// `Authorization and Cookie`
  static func list(_ words: [String]) -> String {
    guard words.count > 1, let last = words.last else { return words.first ?? "" }
    return "\(words.dropLast().joined(separator: ", ")) and \(last)"
  }

  /// Why it has not been sent yet; nil when nothing went wrong so far.
  static func trouble(_ request: FrozenOperation) -> String? {
    if let status = request.lastStatus { return "status \(status)" }
    return request.lastError.map { FailureWords.sentence($0.description, nil) }
  }

  static func waiting(_ requests: [FrozenOperation], now: Duration) -> String {
    if requests.isEmpty { return "nothing waits\n" }
    let head = ["#", "method", "bytes", "age", "expires", "attempts", "last error", "needs", "tag", "URL"]
    return HumanText.table(
      [head]
        + requests.map { request in
          [
            "\(request.id)", "\(request.method)", HumanText.bytes(Int64(request.bodyBytes)),
            HumanText.span(now - request.createdAt), HumanText.span(request.expiresAt - now),
            "\(request.attempts)", trouble(request) ?? "-",
            request.secretFields.isEmpty ? "-" : request.secretFields.joined(separator: ","),
            request.tag ?? "-", URLText.masked(request.url),
          ]
        })
  }

  static func dead(_ letters: [FrozenDeadLetter], now: Duration) -> String {
    if letters.isEmpty { return "no dead letters\n" }
    let head = ["#", "method", "died", "attempts", "reason", "tag", "URL"]
    return HumanText.table(
      [head]
        + letters.map { letter in
          let request = letter.operation
          return [
            "\(letter.id)", request.map { "\($0.method)" } ?? "-",
            "\(HumanText.span(now - letter.diedAt)) ago", request.map { "\($0.attempts)" } ?? "-",
            reason(letter), request?.tag ?? "-", request.map { URLText.masked($0.url) } ?? "-",
          ]
        })
  }

  /// All that is known of one, a fact a line; of one that is dead with its letter.
  static func facts(_ request: FrozenOperation, _ letter: FrozenDeadLetter? = nil, now: Duration) -> String {
    let state =
      letter.map { "dead for \(HumanText.span(now - $0.diedAt)): \(reason($0))" }
      ?? (request.isBeingSent ? "being sent" : "waits")
    var facts = [
      ("state", state), ("age", HumanText.span(now - request.createdAt)), ("attempts", "\(request.attempts)"),
      ("last error", trouble(request) ?? "-"), ("lane", request.lane), ("key", request.idempotencyKey),
      ("tag", request.tag ?? "-"), ("needs", request.secretFields.isEmpty ? "-" : list(request.secretFields)),
      ("body", HumanText.bytes(Int64(request.bodyBytes))), ("request", request.curlCommand),
    ]
    if letter == nil { facts.insert(("expires", "in " + HumanText.span(request.expiresAt - now)), at: 2) }
    return name(request) + "\n" + HumanText.table(facts.map { ["  \($0)", $1] })
  }

  /// `frozenRejected (422)`
  private static func text(_ error: NetworkError) -> String {
    "\(error.code)" + (error.reason.map { " (\($0))" } ?? "")
  }

  private static func reason(_ letter: FrozenDeadLetter) -> String {
    let mayHaveArrived = letter.isOutcomeUnknown && letter.error.code != .outcomeUnknown
    return text(letter.error) + (mayHaveArrived ? ", may have arrived" : "")
  }
}

extension HumanText {
  /// A length of time in its largest unit: `12 s`, `5 min`, `3 h`, `7 d`.
  static func span(_ span: Duration) -> String {
    let whole = Int(min(max(0, span.seconds), 1e9).rounded())
    switch whole {
    case ..<100: return "\(whole) s"
    case ..<6_000: return "\((whole + 30) / 60) min"
    case ..<172_800: return "\((whole + 1_800) / 3_600) h"
    default: return "\((whole + 43_200) / 86_400) d"
    }
  }
}

/// The order in which requests leave: one of a lane at a time, and none before its turn. Pure.
enum FrozenLine {
  /// Returns those that will be sent when only requests that `maySend` says so are; the others, with the one that each waits for, which
  /// is itself when it may not be sent.
  static func split(_ requests: [FrozenOperation], _ maySend: (FrozenOperation) -> Bool) -> (
    ready: [FrozenOperation], held: [(request: FrozenOperation, behind: FrozenOperation)]
  ) {
    var heads: [String: FrozenOperation] = [:]
    var ready: [FrozenOperation] = []
    var held: [(request: FrozenOperation, behind: FrozenOperation)] = []
    for request in requests {
      guard request.isWithinReach else {
        held.append((request, request))
        continue
      }
      if heads[request.lane] == nil, !maySend(request) { heads[request.lane] = request }
      if let head = heads[request.lane] { held.append((request, head)) } else { ready.append(request) }
    }
    return (ready, held)
  }
}

/// Commands that the user may want next, ready to paste.
enum FrozenAdvice {
  static func command(_ words: [String], _ place: FrozenPlace) -> String {
    (["netspool", "frozen"] + words + place.words).map(ResumeCommand.quoted).joined(separator: " ")
  }

  /// The one that sends a request, with the values that are not in the store left open.
  static func thaw(_ request: FrozenOperation, _ place: FrozenPlace) -> String {
    let fields = request.secretFields.flatMap { ["--header", "\($0): ..."] }
    return command(["thaw"] + (fields.isEmpty ? [] : ["\(request.id)"]) + fields, place)
  }
}

/// Frozen requests for other programs: one object per line, secrets in URLs masked, times as RFC 3339 has them.
enum FrozenJSON {
  static func ticket(_ ticket: FrozenTicket, _ request: NetworkRequest) -> [UInt8] {
    line { json in
      json.field("id", ticket.id)
      json.field("idempotencyKey", ticket.idempotencyKey)
      json.field("isDuplicate", ticket.isDuplicate)
      json.field("method", "\(request.method)")
      json.field("url", URLText.masked(request.url))
    }
  }

  static func waiting(_ request: FrozenOperation) -> [UInt8] {
    line { json in
      json.field("id", request.id)
      json.field("state", "waiting")
      write(request, to: &json)
      json.field("notBefore", request.notBefore.map(WallTime.text))
      json.field("expiresAt", WallTime.text(at: request.expiresAt))
    }
  }

  static func dead(_ letter: FrozenDeadLetter) -> [UInt8] {
    line { json in
      json.field("id", letter.id)
      json.field("state", "dead")
      json.field("error", letter.error.code.description)
      json.field("reason", letter.error.reason)
      json.field("isOutcomeUnknown", letter.isOutcomeUnknown)
      json.field("diedAt", WallTime.text(at: letter.diedAt))
      if let request = letter.operation { write(request, to: &json) }
    }
  }

  static func outcome(_ outcome: ThawedOutcome) -> [UInt8] {
    line { json in
      json.field("id", outcome.id)
      switch outcome.result {
      case .success(let response):
        json.field("state", "sent")
        json.field("status", response.status)
      case .failure(let error):
        json.field("state", "dead")
        json.field("error", error.code.description)
        json.field("reason", error.reason)
      }
      json.field("method", "\(outcome.method)")
      json.field("url", URLText.masked(outcome.url))
      json.field("idempotencyKey", outcome.idempotencyKey)
      json.field("tag", outcome.tag)
      json.field("attempts", outcome.attempts)
      json.field("mayBeRepeated", outcome.mayBeRepeated)
    }
  }

  private static func write(_ request: FrozenOperation, to json: inout JSONText) {
    json.field("method", "\(request.method)")
    json.field("url", URLText.masked(request.url))
    json.field("idempotencyKey", request.idempotencyKey)
    json.field("lane", request.lane)
    json.field("tag", request.tag)
    json.field("bytes", request.bodyBytes)
    json.field("attempts", request.attempts)
    json.field("createdAt", WallTime.text(at: request.createdAt))
    json.field("lastError", request.lastError?.description)
    json.field("lastStatus", request.lastStatus)
    if !request.secretFields.isEmpty { json.field("needs", request.secretFields.joined(separator: ",")) }
  }

  private static func line(_ body: (inout JSONText) -> Void) -> [UInt8] { JSONText.object(body) + [0x0A] }
}
