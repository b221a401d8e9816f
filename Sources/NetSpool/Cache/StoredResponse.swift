/// Everything that is remembered of an answer besides its body. Only answers to GET are stored.
///
/// Made by ``StoreDecision``; changed only by a 304 or a HEAD answer.
struct StoredResponse: Sendable, Hashable {
  var version: ResponseHead.Version
  var status: Int
  /// As they may be served, but for Age, which `servedHeaders(at:)` adds.
  var headers: Headers
  /// When the request was sent, milliseconds since 1970.
  var requestedAt: Int64
  /// When the answer's head came, or that of the last 304; milliseconds since 1970.
  var receivedAt: Int64
  /// Of this exchange; empty when it is the URL that was asked for.
  var finalURL: String
  /// The request fields that Vary names, normalised and without secrets; one that was absent is absent.
  var variant: Headers
  var facts: ResponseFacts
  /// Of the body, by whatever hash the caller uses to tell a changed body from an unchanged one.
  var bodyDigest: UInt64
  /// Length of the stored body.
  var bodyBytes: Int64

  init(
    version: ResponseHead.Version, status: Int, headers: Headers, requestedAt: Int64,
    receivedAt: Int64, facts: ResponseFacts, finalURL: String = "", variant: Headers = Headers(),
    bodyDigest: UInt64 = 0, bodyBytes: Int64 = 0
  ) {
    self.version = version
    self.status = status
    self.headers = headers
    self.requestedAt = requestedAt
    self.receivedAt = receivedAt
    self.facts = facts
    self.finalURL = finalURL
    self.variant = variant
    self.bodyDigest = bodyDigest
    self.bodyBytes = bodyBytes
  }
}

extension StoredResponse {
  /// The fields that make a GET conditional; empty if there is nothing to ask with.
  var conditions: Headers { Validators.conditions(headers) }

  /// The fields to serve it with: with the Age that RFC 9111 section 4 demands.
  func servedHeaders(at now: Int64) -> Headers {
    var copy = self
    return copy.takeServedHeaders(at: now)
  }

  /// The same, leaving none behind.
  mutating func takeServedHeaders(at now: Int64) -> Headers {
    var served = Headers()
    swap(&served, &headers)
    served.append(age: age(at: now))
    return served
  }
}

/// Age and freshness of a stored answer at a moment (RFC 9111 section 4.2). `now` is milliseconds since
/// 1970.
extension StoredResponse {
  /// `current_age` in whole seconds (RFC 9111 section 4.2.3), as the Age field says it.
  func age(at now: Int64) -> Int64 { max(0, currentAge(at: now) / 1000) }

  /// Still within its lifetime.
  func isFresh(at now: Int64) -> Bool { freshFor(at: now) > 0 }

  /// `current_age` in milliseconds.
  func currentAge(at now: Int64) -> Int64 { facts.initialAge.addingSaturated(residentTime(at: now)) }

  /// Milliseconds for which it stays fresh; 0 or less: it is stale for as long as that says.
  ///
  /// An answer whose age cannot be told is stale by more than any bound.
  func freshFor(at now: Int64) -> Int64 {
    if facts.flags.contains(.ageIsUnknown) || clockWasSetBack(at: now) { return Self.staleBeyondBounds }
    return facts.lifetime.milliseconds.subtractingSaturated(currentAge(at: now))
  }

  /// `resident_time` in milliseconds: since receipt or the last validation.
  ///
  /// The section takes a local clock that only moves forward. A small step back (NTP) is no residence; after
  /// a large one nobody knows how long it was, which `clockWasSetBack` answers with staleness.
  func residentTime(at now: Int64) -> Int64 { max(0, now.subtractingSaturated(receivedAt)) }

  /// The local clock has been set back behind the receipt by more than a usual correction.
  func clockWasSetBack(at now: Int64) -> Bool {
    receivedAt > now && receivedAt.subtractingSaturated(now) > Self.clockStepMax
  }

  /// Five minutes in milliseconds.
  private static let clockStepMax: Int64 = 300_000
  static let staleBeyondBounds = -DeltaSeconds.secondsMax.milliseconds
}

/// Why a fresh answer could not be had.
enum StaleCause: Sendable, Hashable {
  /// No answer came: no route, no connection, a time-out, a broken transfer.
  case network
  /// The origin answered with this status.
  case status(Int)
}

extension StoredResponse {
  /// Whether it may replace an answer that could not be had (RFC 9111 section 4.2.4, RFC 5861 section 4).
  ///
  /// - No answer at all: whatever is held serves, being disconnected is permission enough.
  /// - 500, 502, 503, 504: only within `stale-if-error` of the answer or of the request.
  /// - Never past `must-revalidate` or `no-cache` (for a shared cache also `proxy-revalidate` and
  ///   `s-maxage`) once stale; never for `.reload`, `.noStore`, and requests that demand validation with
  ///   `no-cache` or `max-age=0`.
  func mayServeStale(after cause: StaleCause, to request: CacheRequest, now: Int64) -> Bool {
    guard !request.demandsValidation else { return false }
    let freshFor = freshFor(at: now, own: request.lifetime)
    if freshFor <= 0, facts.flags.contains(.forbidsStale) { return false }
    switch cause {
    case .network: return true
    case .status(let status):
      guard [500, 502, 503, 504].contains(status) else { return false }
      let allowed = max(facts.staleIfError, request.directives.staleIfError ?? 0)
      return allowed > 0 && isStale(freshFor, byAtMost: allowed)
    }
  }

  /// Milliseconds for which it stays fresh under a lifetime of the caller's own, in seconds since the
  /// answer came or was last validated. It replaces whatever the answer says.
  func freshFor(at now: Int64, own lifetime: Double?) -> Int64 {
    guard let lifetime else { return freshFor(at: now) }
    if clockWasSetBack(at: now) { return Self.staleBeyondBounds }
    let seconds = lifetime > 0 ? min(lifetime, Double(DeltaSeconds.secondsMax)) : 0
    return Int64(seconds * 1000).subtractingSaturated(residentTime(at: now))
  }

  /// `freshFor` as above; `seconds` past the lifetime.
  func isStale(_ freshFor: Int64, byAtMost seconds: Int64) -> Bool {
    freshFor >= -seconds.milliseconds
  }
}

/// The response fields that are stored: all but those that belong to one connection or one exchange (RFC
/// 9111 section 3.1).
enum StoredFields {
  /// The fields of `headers` that are kept to serve later, with a Date that can be read (RFC 9110 section 6.6.1).
  ///
  /// Age is left out: it is said anew whenever the answer is served.
  static func make(
    _ fields: AnswerFields, _ directives: ResponseDirectives, isDated: Bool, receivedAt: Int64,
    rules: CacheRules
  ) -> Headers {
    let own = droppedNames(fields, directives, rules)
    var kept = fields.headers.dropping { bytes, name in
      isAlwaysDropped(bytes, name) || (!own.isEmpty && isDropped(bytes, name, own))
    }
    // A Date that is missing or unreadable becomes the time of receipt.
    if !isDated || own.contains("date") {
      kept.set("Date", HTTPDate.format(InitialAge.seconds(receivedAt)))
    }
    return kept
  }

  /// Names that this answer itself bars, in lower case: those in Connection, in `no-cache="…"` and, for a
  /// shared cache, in `private="…"`.
  private static func droppedNames(
    _ fields: AnswerFields, _ directives: ResponseDirectives, _ rules: CacheRules
  ) -> [String] {
    var names = directives.noCacheFields
    if rules.isShared { names += directives.privateFields }
    for line in fields.all(.connection) where !line.span.equals("keep-alive", in: 0..<line.count) {
      names += FieldNames.parse(line) ?? []
    }
    return names
  }

  private static func isDropped(_ bytes: Span<UInt8>, _ name: Range<Int>, _ names: [String]) -> Bool {
    names.contains { dropped in
      dropped.utf8.count == name.count && bytes.equals(dropped.utf8.span, at: name.lowerBound)
    }
  }

  /// Of the connection (RFC 9110 section 7.6.1), of a proxy, of the message's framing, or said anew. Asked for
  /// every field of every answer, so the first letter decides for nearly all.
  private static func isAlwaysDropped(_ bytes: Span<UInt8>, _ name: Range<Int>) -> Bool {
    switch bytes[name.lowerBound] | 0x20 {
    case UInt8(ascii: "a"): bytes.equals("age", in: name)
    case UInt8(ascii: "c"): bytes.equals("connection", in: name)
    case UInt8(ascii: "k"): bytes.equals("keep-alive", in: name)
    case UInt8(ascii: "p"):
      bytes.equals("proxy-connection", in: name) || bytes.equals("proxy-authenticate", in: name)
        || bytes.equals("proxy-authentication-info", in: name)
        || bytes.equals("proxy-authorization", in: name)
    case UInt8(ascii: "s"): bytes.equals("set-cookie", in: name) || bytes.equals("set-cookie2", in: name)
    case UInt8(ascii: "t"):
      bytes.equals("te", in: name) || bytes.equals("trailer", in: name)
        || bytes.equals("transfer-encoding", in: name)
    case UInt8(ascii: "u"): bytes.equals("upgrade", in: name)
    default: false
    }
  }
}
