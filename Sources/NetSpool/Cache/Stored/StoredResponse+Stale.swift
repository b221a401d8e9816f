/// Why a fresh answer could not be had.
enum StaleCause: Sendable, Hashable {
  /// No answer came: no route, no connection, a time-out, a broken transfer.
  case network
  /// The origin answered with this status.
  case status(Int)
}

extension StoredResponse {
  /// It may stand in for an answer that could not be had (RFC 9111 section 4.2.4, RFC 5861 section 4).
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
    return Int64(seconds * 1000).subtractingSaturated(residence(at: now))
  }

  /// `freshFor` as above; `seconds` past the lifetime.
  func isStale(_ freshFor: Int64, byAtMost seconds: Int64) -> Bool {
    freshFor >= -seconds.milliseconds
  }
}
