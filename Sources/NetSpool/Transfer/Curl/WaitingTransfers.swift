internal import CNetSpoolCurl

/// Has transfers go on that libcurl keeps waiting for nothing.
///
/// The first transfers to an origin with TLS wait for its first connection, which may turn out to be HTTP/2 and serve all of
/// them (CURLOPT_PIPEWAIT). When it turns out to be HTTP/1.1, libcurl 7.88 lets the next one go on; 8.14 does not before a
/// transfer has ended, and one may last for hours. It looks for those that wait whenever a handle is removed, at one each
/// time; so a handle that does nothing is added and removed.
@safe
final class WaitingTransfers {
  private let easy: UnsafeMutableRawPointer
  /// A connection has told that it serves one transfer at a time. Libcurl may not be called inside its callbacks, so
  /// this is kept until it has returned.
  private(set) var mayGoOn = false

  /// Nil without memory, and where libcurl needs no help.
  init?() {
    guard LibraryDifferences.forgetsWaitingTransfers, let easy = unsafe curl_easy_init() else { return nil }
    unsafe self.easy = easy
  }

  func didConnect() { mayGoOn = true }

  /// Two for each connection: so the number of connections doubles with each round trip.
  func goOn(on multi: UnsafeMutableRawPointer) {
    mayGoOn = false
    for _ in 0..<2 {
      unsafe curl_multi_add_handle(multi, easy)
      unsafe curl_multi_remove_handle(multi, easy)
    }
  }

  func close() { unsafe curl_easy_cleanup(easy) }
}
