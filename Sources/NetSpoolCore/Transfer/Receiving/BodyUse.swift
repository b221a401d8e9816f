/// What becomes of a body, decided once its head is known.
package struct BodyUse: Sendable, Equatable {
  /// Kept in memory for the response.
  package var collects: Bool
  /// Written to the sinks.
  package var streams: Bool
  /// Kept in memory for the cache as well, up to so many bytes; 0: not.
  package var keepsMax = 0

  /// Read and dropped: a redirect's, or one that will be asked for again.
  package static let discard = BodyUse(collects: false, streams: false)
  package static let collect = BodyUse(collects: true, streams: false)
  package static let stream = BodyUse(collects: false, streams: true)
  package static let both = BodyUse(collects: true, streams: true)
}
