/// What deciding about a stored answer needs, worked out once when it is stored: a hit reads no header
/// text.
struct ResponseFacts: Sendable, Hashable {
  struct Flags: OptionSet, Sendable, Hashable {
    let rawValue: UInt32
    init(rawValue: UInt32) { self.rawValue = rawValue }
    /// `must-revalidate` or `no-cache`; for a shared cache also `proxy-revalidate` or `s-maxage`: never
    /// used stale, whatever the reason (RFC 9111 section 4.2.4).
    static let forbidsStale = Flags(rawValue: 1)
    /// Not asked for again while fresh, even on a reload (RFC 8246).
    static let immutable = Flags(rawValue: 2)
    /// It has an ETag or Last-Modified that can be asked with.
    static let hasValidator = Flags(rawValue: 4)
    /// The lifetime is the origin's, not a heuristic one.
    static let isExplicit = Flags(rawValue: 8)
    /// Its age cannot be told: Date far ahead of the local clock, or a negative Age.
    static let ageIsUnknown = Flags(rawValue: 16)
    /// The answer names request fields in Vary.
    static let varies = Flags(rawValue: 32)

    static let all = Flags(rawValue: 63)
  }

  var flags: Flags = []
  /// Freshness lifetime in seconds (RFC 9111 section 4.2.1); 0: stale at once.
  var lifetime: Int64 = 0
  /// `corrected_initial_age` in milliseconds (RFC 9111 section 4.2.3).
  var initialAge: Int64 = 0
  /// Seconds past the lifetime in which a background renewal is enough (RFC 5861 section 3).
  var staleWhileRevalidate: Int64 = 0
  /// Seconds past the lifetime in which it may stand in for an error (RFC 5861 section 4).
  var staleIfError: Int64 = 0
  /// Of the rules that gave these numbers.
  var rules: UInt64 = 0

  init() {}
}
