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
    let old = unsafe list
    unsafe list = nil
    var cookies: [ArraySlice<UInt8>] = []
    for line in lines {
      if joinsCookies, let cookie = Self.cookie(line) {
        cookies.append(cookie)
        continue
      }
      unsafe Self.lend(line[...]) { text in unsafe list = curl_slist_append(list, text) }
    }
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_HTTPHEADER, list)
    unsafe curl_slist_free_all(old)
    guard joinsCookies else { return }
    unsafe cnetspool_easy_set_string(easy, CURLOPT_COOKIE, nil)
    guard !cookies.isEmpty else { return }
    unsafe Self.lend(cookies.joined(separator: "; ".utf8) + [0]) { text in
      unsafe _ = cnetspool_easy_set_string(easy, CURLOPT_COOKIE, text)
    }
  }

  /// The value of a Cookie field, without the line's end; nil for another field.
  private static func cookie(_ line: [UInt8]) -> ArraySlice<UInt8>? {
    let name = "cookie: ".utf8
    let isCookie = line.count > name.count && zip(line, name).allSatisfy { $0.asciiLowercased == $1 }
    return isCookie ? line[name.count...].dropLast() : nil
  }

  private static func lend(_ text: some Sequence<UInt8>, to body: (UnsafePointer<CChar>) -> Void) {
    unsafe text.map { CChar(bitPattern: $0) }.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
  }
}
