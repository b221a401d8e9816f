internal import CNetSpoolCurl

/// The work of a multi handle's owner that libcurl leaves undone.
@safe
final class MultiQuirks {
  /// The first transfers to an origin with TLS wait for its first connection, which may turn out to be HTTP/2 and serve all
  /// of them (CURLOPT_PIPEWAIT). When it turns out to be HTTP/1.1, libcurl 7.88 lets the next one go on; 8.14 does not before
  /// a transfer has ended, and one may last for hours. It looks for those that wait whenever a handle is removed, at one each
  /// time; so this one, which does nothing, is added and removed. Nil where libcurl needs no help.
  private let idle: UnsafeMutableRawPointer?
  /// A connection has told that it serves one transfer at a time. Libcurl may not be called inside its callbacks, so this is
  /// kept until it has returned.
  private var mayGoOn = false

  /// As long as a body is not sent, libcurl 7.88 asks to be called whenever its HTTP/2 connection can be written to, also
  /// while the origin's window has no room for it. It nearly always can be, so the loop would turn as fast as it can for as long
  /// as the origin likes. Such a socket rests from being asked, until something is read on it or for 10 ms.
  private var resting: [SocketWatch] = []
  private var restTimer: LoopTimer?

  init(loop: EventLoop) {
    unsafe idle = Quirks.forgetsWaitingTransfers ? curl_easy_init() : nil
    restTimer = LoopTimer(on: loop) { [unowned self] in
      let rested = resting
      resting = []
      for watch in rested { watch.endRest() }
    }
  }

  /// A new connection that serves one transfer at a time.
  func didConnect() { mayGoOn = true }

  /// Two go on for each such connection: so the number of connections doubles with each round trip.
  @inline(__always)
  func didReturn(to multi: UnsafeMutableRawPointer) {
    guard mayGoOn else { return }
    mayGoOn = false
    guard let idle = unsafe idle else { return }
    for _ in 0..<2 {
      unsafe curl_multi_add_handle(multi, idle)
      unsafe curl_multi_remove_handle(multi, idle)
    }
  }

  func rest(_ watch: SocketWatch) {
    resting.append(watch)
    if resting.count == 1 { restTimer?.start(milliseconds: 10) }
  }

  /// Behind the multi handle's end.
  func close() {
    unsafe curl_easy_cleanup(idle)
    resting = []
    restTimer.take()?.close()
  }
}
