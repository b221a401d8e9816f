/// What becomes of a body, decided once its head is known.
struct BodyUse: Sendable, Equatable {
  /// Kept in memory for the response.
  var collects: Bool
  /// Written to the sinks.
  var streams: Bool
  /// Kept in memory for the cache as well, up to so many bytes; 0: not.
  var keepsMax = 0

  /// Read and dropped: a redirect's, or one that will be asked for again.
  static let discard = BodyUse(collects: false, streams: false)
  static let collect = BodyUse(collects: true, streams: false)
  static let stream = BodyUse(collects: false, streams: true)
  static let both = BodyUse(collects: true, streams: true)
}
