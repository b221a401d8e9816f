/// What an answer to an unsafe request makes worthless (RFC 9111 section 4.4).
enum Invalidation {
  /// The target of this request must be removed: the method may have changed it, and the answer is no
  /// error. An unknown method counts as unsafe (RFC 9110 section 9.2.1).
  static func applies(method: Method, status: Int) -> Bool {
    !method.isSafe && (200..<400).contains(status)
  }

  /// Further URLs to remove: what Location and Content-Location say, to be resolved against the target.
  /// Each must then pass `isTarget`.
  static func references(_ headers: Headers) -> [String] {
    headers.all("location") + headers.all("content-location")
  }

  /// Only the same origin may take away what is stored: another one could empty the cache at will.
  static func isTarget(_ reference: URLPieces, of target: URLPieces) -> Bool {
    reference.origin == target.origin
  }
}
