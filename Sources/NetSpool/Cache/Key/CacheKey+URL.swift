/// Finding keys by the URL in them, whatever scope and fields they are for.
extension CacheKey {
  /// Whether a key made by `primary(scope:url:headers:)`, or derived from one, is about a URL: one that is
  /// this, or that begins so. Never true for a key of the caller's own.
  static func concerns(_ url: [UInt8], isPrefix: Bool, in key: RawSpan) -> Bool {
    guard let scopeEnd = firstNUL(key, from: 0) else { return false }
    let start = scopeEnd + methodMark.count
    guard holds(methodMark, key, at: scopeEnd), holds(url, key, at: start) else { return false }
    let end = start + url.count
    return isPrefix || end == key.byteCount || key.byte(at: end) == 0
  }

  /// What ends the scope, the method, and its end.
  private static let methodMark: [UInt8] = [0] + Array("GET".utf8) + [0]

  private static func firstNUL(_ key: RawSpan, from start: Int) -> Int? {
    var index = start
    while index < key.byteCount {
      if key.byte(at: index) == 0 { return index }
      index += 1
    }
    return nil
  }

  private static func holds(_ part: [UInt8], _ key: RawSpan, at start: Int) -> Bool {
    guard start + part.count <= key.byteCount else { return false }
    for index in part.indices where key.byte(at: start + index) != part[index] { return false }
    return true
  }
}
