internal import CNetSpoolCurl
internal import CNetSpoolShims

/// What the easy handles of one origin on one multi handle have in common besides connections (libcurl-share(3)): the
/// addresses of its name, and TLS sessions, so that a new connection need not begin a whole handshake. For an engine that
/// keeps cookies it is one for all origins, with the cookies.
///
/// libcurl looks at every address that it remembers at the end of every transfer, so what one origin's handles remember
/// must not grow with the number of others.
///
/// All of it is used by one thread, so there are no lock functions.
@safe
final class SharedState {
  private let share: OpaquePointer?
  /// Which addresses libcurl was told; 0: none.
  var addressesVersion = 0

  init(keepsCookies: Bool) {
    unsafe share = OpaquePointer(curl_share_init())
    guard let raw = unsafe raw else { return }
    unsafe cnetspool_share_add(raw, CURL_LOCK_DATA_DNS)
    unsafe cnetspool_share_add(raw, CURL_LOCK_DATA_SSL_SESSION)
    if keepsCookies { unsafe cnetspool_share_add(raw, CURL_LOCK_DATA_COOKIE) }
  }

  /// Every handle keeps this, so none is left.
  deinit { if let raw = unsafe raw { unsafe curl_share_cleanup(raw) } }

  private var raw: UnsafeMutableRawPointer? { unsafe share.map { unsafe UnsafeMutableRawPointer($0) } }

  func join(_ easy: UnsafeMutableRawPointer) { unsafe cnetspool_easy_set_pointer(easy, CURLOPT_SHARE, raw) }

  /// Forgets the cookies; on the thread of the loop.
  func removeCookies() {
    guard let easy = unsafe curl_easy_init() else { return }
    unsafe join(easy)
    unsafe cnetspool_easy_set_string(easy, CURLOPT_COOKIELIST, "ALL")
    unsafe curl_easy_cleanup(easy)
  }
}
