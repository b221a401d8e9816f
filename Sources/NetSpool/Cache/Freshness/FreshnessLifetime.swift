/// How long an answer stays fresh (RFC 9111 section 4.2.1).
struct FreshnessLifetime: Equatable {
  /// 0: stale at once.
  var seconds: Int64
  /// The origin said so.
  var isExplicit: Bool

  private static let stale = FreshnessLifetime(seconds: 0, isExplicit: true)

  /// `date`: the answer's Date in seconds since 1970, or when it came if it has none.
  init(
    status: Int, fields: AnswerFields, directives: ResponseDirectives, date: Int64, rules: CacheRules
  ) {
    self = Self.ruled(status, fields, directives, date, rules)
    guard directives.flags.contains(.noCache) else { return }
    // `no-cache` beats Expires and heuristics, but a shorter max-age stands (section 4.2.1: in a conflict
    // the most restrictive directive counts).
    let explicit = Self.controlled(directives, rules)?.seconds ?? .max
    self = FreshnessLifetime(seconds: min(rules.noCacheSeconds, explicit), isExplicit: true)
  }

  private static func ruled(
    _ status: Int, _ fields: AnswerFields, _ directives: ResponseDirectives, _ date: Int64,
    _ rules: CacheRules
  ) -> Self {
    if let controlled = controlled(directives, rules) { return controlled }
    let own = heuristic(status, fields, directives, date, rules.heuristics)
    guard let expires = expires(fields, date: date) else { return own }
    if rules.heuristics.overridesExpires, own.seconds > 0 { return own }
    return FreshnessLifetime(seconds: expires, isExplicit: true)
  }

  private init(seconds: Int64, isExplicit: Bool) {
    self.seconds = seconds
    self.isExplicit = isExplicit
  }

  /// From `s-maxage` (shared caches only) or `max-age`; nil if there is neither.
  private static func controlled(_ directives: ResponseDirectives, _ rules: CacheRules) -> Self? {
    if directives.flags.contains(.hasOpenQuote) { return .stale }
    for age in [rules.isShared ? directives.sMaxAge : .absent, directives.maxAge] {
      switch age {
      case .absent: continue
      case .invalid: return .stale
      case .seconds(let seconds): return Self(seconds: seconds, isExplicit: true)
      }
    }
    return nil
  }

  /// Seconds from Date to Expires; 0 for anything that is no date, above all `0` (RFC 9111 section 5.3),
  /// and for two that differ; nil without Expires.
  private static func expires(_ fields: AnswerFields, date: Int64) -> Int64? {
    let values = fields.all(.expires)
    guard let first = values.first else { return nil }
    guard values.allSatisfy({ $0 == first }), let expires = HTTPDate.parse(first, now: date) else { return 0 }
    return min(max(0, expires.subtractingSaturated(date)), DeltaSeconds.secondsMax)
  }
}

extension FreshnessLifetime {
  private static func heuristic(
    _ status: Int, _ fields: AnswerFields, _ directives: ResponseDirectives, _ date: Int64,
    _ heuristics: CacheHeuristics
  ) -> Self {
    let isAllowed = CacheableStatus.isHeuristic(status) || directives.flags.contains(.isPublic)
    let seconds = isAllowed ? guess(status, fields, date, heuristics) : 0
    return Self(seconds: min(max(0, seconds), DeltaSeconds.secondsMax), isExplicit: false)
  }

  private static func guess(
    _ status: Int, _ fields: AnswerFields, _ date: Int64, _ heuristics: CacheHeuristics
  ) -> Int64 {
    let modified = Validators.lastModified(fields)
    let hasTag = Validators.entityTag(fields) != nil
    // An error is not the image, whatever its placeholder looks like.
    if status < 300, isImage(fields) {
      return hasTag || modified != nil ? heuristics.validatedImageSeconds : heuristics.imageSeconds
    }
    if status < 300, hasTag, heuristics.entityTagSeconds > 0 { return heuristics.entityTagSeconds }
    guard let modified, modified < date else { return 0 }
    let age = min(date.subtractingSaturated(modified), DeltaSeconds.secondsMax)
    let (share, overflows) = age.multipliedReportingOverflow(by: heuristics.lastModifiedPercent)
    return overflows ? 0 : min(share / 100, heuristics.lastModifiedSecondsMax)
  }

  private static func isImage(_ fields: AnswerFields) -> Bool {
    fields[.contentType].flatMap { MediaType($0) }?.type == "image"
  }
}

extension Int64 {
  func subtractingSaturated(_ other: Int64) -> Int64 {
    let (difference, overflows) = subtractingReportingOverflow(other)
    return overflows ? (self < other ? .min : .max) : difference
  }

  func addingSaturated(_ other: Int64) -> Int64 {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other < 0 ? .min : .max) : sum
  }
}
