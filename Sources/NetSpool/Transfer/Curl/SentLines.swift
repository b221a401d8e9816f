internal import CNetSpoolCurl
internal import CNetSpoolShims

/// The lines that an easy handle sends besides libcurl's Host and Accept (CURLOPT_HTTPHEADER). The list lives until the next
/// one.
@safe
struct SentLines: ~Copyable {
  private var list: UnsafeMutablePointer<curl_slist>?
  /// libcurl has cookies of its own. It puts them and the caller's into one field only where it knows of both
  /// (CURLOPT_COOKIE; RFC 6265 section 5.4).
  private let joinsCookies: Bool

  init(joinsCookies: Bool) { self.joinsCookies = joinsCookies }

  deinit { unsafe curl_slist_free_all(list) }

  /// Sends exactly these lines, each ended by NUL.
  mutating func set(_ lines: [[UInt8]], on easy: UnsafeMutableRawPointer) {
    var new: UnsafeMutablePointer<curl_slist>?
    var cookies: [ArraySlice<UInt8>] = []
    for line in lines {
      if joinsCookies, let cookie = Self.cookie(line) {
        cookies.append(cookie)
      } else {
        unsafe Self.lend(line) { unsafe new = curl_slist_append(new, $0) }
      }
    }
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_HTTPHEADER, new)
    unsafe curl_slist_free_all(list)
    unsafe list = new
    if joinsCookies { unsafe Self.set(cookies, on: easy) }
  }

  private static func set(_ cookies: [ArraySlice<UInt8>], on easy: UnsafeMutableRawPointer) {
    unsafe cnetspool_easy_set_string(easy, CURLOPT_COOKIE, nil)
    guard !cookies.isEmpty else { return }
    let text = Array(cookies.joined(separator: "; ".utf8)) + [0]
    unsafe lend(text) { text in unsafe cnetspool_easy_set_string(easy, CURLOPT_COOKIE, text) }
  }

  /// The value of a Cookie field, without the line's end; nil for another field.
  private static func cookie(_ line: [UInt8]) -> ArraySlice<UInt8>? {
    let name = "cookie: ".utf8
    let isCookie = line.count > name.count && zip(line, name).allSatisfy { $0.asciiLowercased == $1 }
    return isCookie ? line[name.count...].dropLast() : nil
  }

  private static func lend(_ text: [UInt8], to body: (UnsafePointer<CChar>) -> Void) {
    unsafe text.map { CChar(bitPattern: $0) }.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
  }
}
