/// How a request is kept when it is frozen, besides what it is.
package struct FreezeTerms: Sendable, Hashable {
  /// Requests of one lane are sent in order; nil: all of one origin.
  package var lane: String?
  /// False: others of its lane may be sent at the same time.
  package var isOrdered = true
  /// It expires after so many seconds; nil: as the engine says.
  package var lifetime: Double?
  /// Sent again even when that has its effect twice.
  package var isAtLeastOnce = false
  /// A second request with the same one is the first one.
  package var dedupeKey: String?
  /// The caller's own.
  package var userInfo: [UInt8] = []

  package init() {}
}
