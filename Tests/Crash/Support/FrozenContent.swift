#if DEBUG
@testable import NetSpool

/// What must be the same at every attempt, in one word.
enum FrozenContent {
  /// SHA-256 of method, URL and body, in hexadecimal.
  static func digest(method: String, url: String, body: [UInt8]) -> String {
    var digest = SHA256()
    for part in [Array(method.utf8), Array(url.utf8), body] { digest.update(part.rawBytes) }
    return Hexadecimal.text(digest.finish())
  }
}
#endif
