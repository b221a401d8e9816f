/// Ends the rests of sockets that libcurl wants to write to and does not.
///
/// As long as a body is not sent, libcurl 7.88 asks to be called whenever its HTTP/2 connection can be written to, also while
/// the origin's window has no room for it. It nearly always can be, so the loop would turn as fast as it can for as long as
/// the origin likes. Such a socket rests from being asked, until something is read on it or for this time.
@safe
final class WriteRests {
  private static let milliseconds: UInt64 = 10

  private var resting: [SocketWatch] = []
  private var timer: LoopTimer?

  init(loop: EventLoop) {
    timer = LoopTimer(on: loop) { [unowned self] in
      let rested = resting
      resting = []
      for watch in rested { watch.endRest() }
    }
  }

  func add(_ watch: SocketWatch) {
    resting.append(watch)
    if resting.count == 1 { timer?.start(milliseconds: Self.milliseconds) }
  }

  func close() {
    resting = []
    timer?.close()
    timer = nil
  }
}
