/// Status codes and what a cache may do with them.
enum CacheableStatus {
  /// Cacheable without the origin saying so (RFC 9110 section 15.1). 206 is one too, but this cache does
  /// not store parts.
  static func isHeuristic(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }

  /// Its caching requirements are known and kept, for `must-understand` (RFC 9111 section 5.2.2.3): the
  /// final ones of RFC 9110, RFC 6585 and RFC 7725, without those that this cache never stores.
  static func isUnderstood(_ status: Int) -> Bool {
    switch status {
    case 200...205, 300...303, 305, 307, 308, 400...415, 417, 421, 422, 426, 428, 429, 431, 451, 500...505,
      511:
      true
    default: false
    }
  }

  /// A whole answer: final, and neither a part (206), nor about something else (304), nor about a range
  /// (416), none of which can stand for the resource (RFC 9111 section 3).
  static func isStorable(_ status: Int) -> Bool {
    (200...599).contains(status) && status != 206 && status != 304 && status != 416
  }
}
