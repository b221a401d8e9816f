/// The time that an answer stays fresh (RFC 9111 section 4.2.1).
struct FreshnessLifetime: Equatable {
  /// 0: stale at once.
  var seconds: Int64
  /// The origin said so.
  var isExplicit: Bool
}

extension FreshnessLifetime {
  private static let stale = FreshnessLifetime(seconds: 0, isExplicit: true)

  /// `date`: the answer's Date in seconds since 1970, or when it came if it has none.
  init(status: Int, fields: AnswerFields, directives: ResponseDirectives, date: Int64, rules: CacheRules) {
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

  /// The lifetime from `s-maxage` (shared caches only) or `max-age`; nil if there is neither.
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
      let seconds = hasTag || modified != nil ? heuristics.validatedImageSeconds : heuristics.imageSeconds
      if seconds > 0 { return seconds }
    }
    if status < 300, hasTag, heuristics.entityTagSeconds > 0 { return heuristics.entityTagSeconds }
    guard let modified, modified < date, heuristics.lastModifiedPercent > 0 else { return 0 }
    let age = min(date.subtractingSaturated(modified), DeltaSeconds.secondsMax)
    let (share, overflows) = age.multipliedReportingOverflow(by: heuristics.lastModifiedPercent)
    return min(overflows ? .max : share / 100, heuristics.lastModifiedSecondsMax)
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

  /// Of a number of seconds that is at most `DeltaSeconds.secondsMax`.
  var milliseconds: Int64 { self &* 1000 }
}

/// How old an answer was when it came (RFC 9111 section 4.2.3).
struct InitialAge: Equatable {
  /// `corrected_initial_age`.
  private(set) var milliseconds: Int64

  /// `date`: the answer's Date in seconds since 1970. One that is ahead of the local clock makes no age.
  init(_ fields: AnswerFields, date: Int64, requestedAt: Int64, receivedAt: Int64) {
    let apparent = max(0, Self.seconds(receivedAt).subtractingSaturated(date))
    let delay = max(0, receivedAt.subtractingSaturated(requestedAt))
    let corrected = Self.age(fields).milliseconds.addingSaturated(
      min(delay, DeltaSeconds.secondsMax.milliseconds))
    milliseconds = max(min(apparent, DeltaSeconds.secondsMax).milliseconds, corrected)
  }

  /// The first member of Age in seconds; 0 if it is missing, negative or no number: it is ignored then (RFC 9111
  /// section 5.1).
  private static func age(_ fields: AnswerFields) -> Int64 {
    guard let value = fields[.age] else { return 0 }
    return DeltaSeconds.parse(FieldNames.trimmed(value.prefix { $0 != UInt8(ascii: ",") })) ?? 0
  }

  /// Rounded down, also before 1970.
  static func seconds(_ milliseconds: Int64) -> Int64 {
    milliseconds >= 0 ? milliseconds / 1000 : (milliseconds + 1) / 1000 - 1
  }
}

/// Status codes and what a cache may do with them.
enum CacheableStatus {
  /// Cacheable without the origin saying so (RFC 9110 section 15.1).
  static func isHeuristic(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }

  /// Its caching requirements are known and kept, for `must-understand` (RFC 9111 section 5.2.2.3): the
  /// final ones of RFC 9110, RFC 6585 and RFC 7725, without those that this cache never stores.
  static func isUnderstood(_ status: Int) -> Bool {
    switch status {
    case 200...206, 300...303, 305, 307, 308, 400...415, 417, 421, 422, 426, 428, 429, 431, 451, 500...505,
      511:
      true
    default: false
    }
  }

  /// A whole answer: final, and neither a part (206), nor about something else (304), nor about a range
  /// (416), none of which can stand for the resource (RFC 9111 section 3). Parts are stored beside it.
  static func isStorable(_ status: Int) -> Bool {
    (200...599).contains(status) && status != 206 && status != 304 && status != 416
  }
}

/// How long an answer is taken for fresh when its origin did not say (RFC 9111 section 4.2.2): the numbers of `CacheRules`,
/// in seconds. The first that applies counts: image, entity tag, Last-Modified.
struct CacheHeuristics: Sendable, Hashable {
  var validatedImageSeconds: Int64 = 0
  var imageSeconds: Int64 = 0
  var entityTagSeconds: Int64 = 0
  var lastModifiedPercent: Int64 = 10
  var lastModifiedSecondsMax: Int64 = 86_400
  var overridesExpires = false

  static let standard = CacheHeuristics()

  /// An answer without explicit lifetime is stale at once.
  static let none = CacheHeuristics(lastModifiedPercent: 0)

  /// The numbers of `CacheRules.relaxed`.
  static let relaxed = CacheHeuristics(
    validatedImageSeconds: 86_400, imageSeconds: 604_800, entityTagSeconds: 86_400, lastModifiedPercent: 0,
    overridesExpires: true)
}

extension CacheRules {
  /// Tells whether something was worked out under these rules. The same in every process, since it is
  /// stored; 64 bits, and two rule sets that meet in them would only share their lifetimes.
  var fingerprint: UInt64 {
    var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
    Self.mix(heuristics.validatedImageSeconds, into: &hash)
    Self.mix(heuristics.imageSeconds, into: &hash)
    Self.mix(heuristics.entityTagSeconds, into: &hash)
    Self.mix(heuristics.lastModifiedPercent, into: &hash)
    Self.mix(heuristics.lastModifiedSecondsMax, into: &hash)
    Self.mix(noCacheSeconds, into: &hash)
    Self.mix((heuristics.overridesExpires ? 1 : 0) | (isShared ? 2 : 0), into: &hash)
    return hash
  }

  @inline(__always)
  private static func mix(_ number: Int64, into hash: inout UInt64) {
    let product = (hash ^ UInt64(bitPattern: number)).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    hash = product.high ^ product.low &+ 0x632B_E59B_D9B4_E019
  }
}
