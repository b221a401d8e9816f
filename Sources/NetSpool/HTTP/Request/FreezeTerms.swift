/// How a request is kept when it is frozen, besides what it is.
struct FreezeTerms: Sendable, Hashable {
  /// Requests of one lane are sent in order; nil: all of one origin.
  var lane: String?
  /// False: others of its lane may be sent at the same time.
  var isOrdered = true
  /// It expires after so many seconds; nil: as the engine says.
  var lifetime: Double?
  /// Sent again even when that has its effect twice.
  var isAtLeastOnce = false
  /// A second request with the same one is the first one.
  var dedupeKey: String?
  /// The caller's own.
  var userInfo: [UInt8] = []

  init() {}
}
