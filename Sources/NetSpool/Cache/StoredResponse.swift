/// Everything that is remembered of an answer besides its body. Only answers to GET are stored.
///
/// Made by ``StoreDecision``; changed only by a 304 or a HEAD answer, and by further parts of the same body.
struct StoredResponse: Sendable, Hashable {
  var version: ResponseHead.Version
  var status: Int
  /// As they may be served, but for Age, which `servedHeaders(age:)` adds.
  var headers: Headers
  /// When the request was sent, milliseconds since 1970.
  var requestedAt: Int64
  /// When the answer's head came, or that of the last 304; milliseconds since 1970.
  var receivedAt: Int64
  var facts: ResponseFacts
  /// Length of the stored body.
  var bodyBytes: Int64
  /// What few answers have: none, or one in a box.
  private var rare: [Rare]

  /// What few answers have.
  struct Rare: Sendable, Hashable {
    /// Fields that are only served once the origin has confirmed the answer (RFC 9111 section 5.2.2.4).
    var hidden = Headers()
    /// The caller's names, to remove it by.
    var tags: [String] = []
    /// Which parts of the body are there; nil: all of it.
    var parts: StoredParts?
    /// Where it came from, for an engine whose rule of egress is asked about it.
    var peer: NetworkEngine.Egress.Address?
  }

  init(
    version: ResponseHead.Version, status: Int, headers: Headers, requestedAt: Int64,
    receivedAt: Int64, facts: ResponseFacts, bodyBytes: Int64 = 0, rare: Rare? = nil
  ) {
    self.version = version
    self.status = status
    self.headers = headers
    self.requestedAt = requestedAt
    self.receivedAt = receivedAt
    self.facts = facts
    self.bodyBytes = bodyBytes
    self.rare = rare.map { [$0] } ?? []
  }

  var hidden: Headers {
    get { rare.first?.hidden ?? Headers() }
    set { change(\.hidden, to: newValue) }
  }

  var tags: [String] {
    get { rare.first?.tags ?? [] }
    set { change(\.tags, to: newValue) }
  }

  var parts: StoredParts? {
    get { rare.first?.parts }
    set { change(\.parts, to: newValue) }
  }

  var peer: NetworkEngine.Egress.Address? {
    get { rare.first?.peer }
    set { change(\.peer, to: newValue) }
  }

  var hasRare: Bool { !rare.isEmpty }

  private mutating func change<Value>(_ path: WritableKeyPath<Rare, Value>, to value: Value) {
    var changed = rare.first ?? Rare()
    changed[keyPath: path] = value
    rare = changed == Rare() ? [] : [changed]
  }
}

extension StoredResponse {
  /// The fields that make a GET conditional; empty if there is nothing to ask with.
  var conditions: Headers { Validators.conditions(allHeaders) }

  /// With those that are hidden.
  var allHeaders: Headers { hasRare ? headers + hidden : headers }

  /// The fields to serve it with: with the Age that RFC 9111 section 4 demands.
  func servedHeaders(age: Int64) -> Headers {
    var served = headers
    served.append(age: age)
    return served
  }

  /// The same, leaving no fields behind. `isConfirmed`: the origin has just said that it holds.
  mutating func takeServedHeaders(at now: Int64, isConfirmed: Bool = false) -> Headers {
    var served = Headers()
    swap(&served, &headers)
    if isConfirmed, hasRare { served = served + hidden }
    served.append(age: age(at: now))
    return served
  }
}

/// Age and freshness of a stored answer at a moment (RFC 9111 section 4.2). `now` is milliseconds since
/// 1970.
extension StoredResponse {
  /// `current_age` in whole seconds (RFC 9111 section 4.2.3), as the Age field says it.
  func age(at now: Int64) -> Int64 { max(0, currentAge(at: now) / 1000) }

  /// `current_age` in milliseconds.
  func currentAge(at now: Int64) -> Int64 { facts.initialAge.addingSaturated(residentTime(at: now)) }

  /// Milliseconds for which it stays fresh; 0 or less: it is stale for as long as that says. A lifetime of the caller's own, in
  /// seconds since the answer came or was last validated, replaces whatever the answer says.
  func freshFor(at now: Int64, own lifetime: Double? = nil) -> Int64 {
    if clockWasSetBack(at: now) { return Self.staleBeyondBounds }
    guard let lifetime else {
      return facts.lifetime.milliseconds.subtractingSaturated(currentAge(at: now))
    }
    let seconds = lifetime > 0 ? min(lifetime, Double(DeltaSeconds.secondsMax)) : 0
    return Int64(seconds * 1000).subtractingSaturated(residentTime(at: now))
  }

  /// Still within its lifetime.
  func isFresh(at now: Int64, own lifetime: Double? = nil) -> Bool { freshFor(at: now, own: lifetime) > 0 }

  /// `resident_time` in milliseconds: since receipt or the last validation.
  ///
  /// The section takes a local clock that only moves forward. A small step back (NTP) is no residence; after
  /// a large one it is not known how long it was, which `clockWasSetBack` answers with staleness.
  func residentTime(at now: Int64) -> Int64 { max(0, now.subtractingSaturated(receivedAt)) }

  /// The local clock has been set back behind the receipt by more than a usual correction.
  func clockWasSetBack(at now: Int64) -> Bool {
    receivedAt > now && receivedAt.subtractingSaturated(now) > Self.clockStepMax
  }

  /// Five minutes in milliseconds.
  private static let clockStepMax: Int64 = 300_000
  /// Past any `max-stale`.
  static let staleBeyondBounds = -2 * DeltaSeconds.secondsMax.milliseconds
}

/// Why a fresh answer could not be had.
enum StaleCause: Sendable, Hashable {
  /// No answer came: no route, no connection, a time-out, a broken transfer.
  case network
  /// The origin answered with this status.
  case status(Int)
}

extension StoredResponse {
  /// True if it may replace an answer that could not be had (RFC 9111 section 4.2.4, RFC 5861 section 4).
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

  /// `freshFor` as above; `seconds` past the lifetime.
  func isStale(_ freshFor: Int64, byAtMost seconds: Int64) -> Bool { freshFor >= -seconds.milliseconds }
}

/// The response fields that are stored: all but those that belong to one connection or one exchange (RFC
/// 9111 section 3.1).
enum StoredFields {
  /// The fields of `headers` that are kept to serve later, with a Date that can be read (RFC 9110 section 6.6.1).
  ///
  /// Age is left out: it is said anew whenever the answer is served. Those of `no-cache="…"` are among them; see `hide`.
  static func make(
    _ fields: AnswerFields, _ directives: ResponseDirectives, isDated: Bool, receivedAt: Int64,
    rules: CacheRules
  ) -> Headers {
    let own = droppedNames(fields, directives, rules)
    var kept = fields.headers.dropping { bytes, name in
      isAlwaysDropped(bytes, name) || (!own.isEmpty && isDropped(bytes, name, own))
    }
    // A Date that is missing or unreadable becomes the time of receipt.
    if !isDated || own.contains("date") { kept.set("Date", HTTPDate.format(InitialAge.seconds(receivedAt))) }
    return kept
  }

  /// Takes out the fields that `no-cache="…"` names: they are kept, and served once the origin has confirmed the answer
  /// (RFC 9111 section 5.2.2.4). Not Vary, which says whose answer it is.
  static func hide(_ directives: ResponseDirectives, from headers: inout Headers) -> Headers {
    let names = Set(directives.noCacheFields).subtracting(["vary"])
    guard !names.isEmpty else { return Headers() }
    let hidden = headers.dropping { !isDropped($0, $1, names) }
    if hidden.count > 0 { headers = headers.dropping { isDropped($0, $1, names) } }
    return hidden
  }

  /// Names that this answer itself bars, in lower case: those in Connection and, for a shared cache, in `private="…"` and
  /// those that set cookies. Never Vary: without it the answer would be everybody's.
  private static func droppedNames(
    _ fields: AnswerFields, _ directives: ResponseDirectives, _ rules: CacheRules
  ) -> Set<String> {
    var names: [String] = []
    if rules.isShared {
      names = directives.privateFields
      if fields.setsCookie { names += ["set-cookie", "set-cookie2"] }
    }
    for line in fields.all(.connection) where !line.span.equals("keep-alive", in: 0..<line.count) {
      names += FieldNames.parse(line) ?? []
    }
    return names.isEmpty ? [] : Set(names).subtracting(["vary"])
  }

  /// A set, since an origin may name thirty thousand.
  private static func isDropped(_ bytes: Span<UInt8>, _ name: Range<Int>, _ names: Set<String>) -> Bool {
    names.contains(String(decoding: name.map { bytes[$0].asciiLowercased }, as: UTF8.self))
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
    case UInt8(ascii: "t"):
      bytes.equals("te", in: name) || bytes.equals("trailer", in: name)
        || bytes.equals("transfer-encoding", in: name)
    case UInt8(ascii: "u"): bytes.equals("upgrade", in: name)
    default: false
    }
  }
}
