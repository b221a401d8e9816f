/// Age and freshness of a stored answer at a moment (RFC 9111 section 4.2). `now` is milliseconds since
/// 1970.
extension StoredResponse {
  /// `current_age` in whole seconds (RFC 9111 section 4.2.3), as the Age field says it.
  func age(at now: Int64) -> Int64 { max(0, currentAge(at: now) / 1000) }

  /// Still within its lifetime.
  func isFresh(at now: Int64) -> Bool { freshFor(at: now) > 0 }

  /// `current_age` in milliseconds.
  func currentAge(at now: Int64) -> Int64 { facts.initialAge.addingSaturated(residence(at: now)) }

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
  func residence(at now: Int64) -> Int64 { max(0, now.subtractingSaturated(receivedAt)) }

  /// The local clock has been set back behind the receipt by more than a usual correction.
  func clockWasSetBack(at now: Int64) -> Bool {
    receivedAt > now && receivedAt.subtractingSaturated(now) > Self.clockStepMax
  }

  /// Five minutes in milliseconds.
  private static let clockStepMax: Int64 = 300_000
  static let staleBeyondBounds = -DeltaSeconds.secondsMax.milliseconds
}
