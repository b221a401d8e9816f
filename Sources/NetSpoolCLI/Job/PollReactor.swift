import Glibc

/// The real clock, `poll(2)` and a pipe.
final class PollReactor: Reactor {
  private let event: WakePipe

  init() throws(IOFailure) { event = try WakePipe() }

  var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  func wait(input: Int32?, timeout: Int64?) {
    // poll passes over negative descriptors.
    var watched = [
      pollfd(fd: event.readEnd, events: Int16(POLLIN), revents: 0),
      pollfd(fd: input ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    let milliseconds = timeout.map { Int32(clamping: ($0 + 999_999) / 1_000_000) } ?? -1
    unsafe poll(&watched, nfds_t(watched.count), milliseconds)
    if watched[0].revents != 0 { event.clear() }
  }

  var wake: @Sendable () -> Void {
    { [event] in event.signal() }
  }
}

/// A pipe to itself: a byte in it makes a descriptor readable. (`eventfd` is not visible to Swift.)
private final class WakePipe: Sendable {
  let readEnd: Int32
  private let writeEnd: Int32

  init() throws(IOFailure) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw .last("create", "a pipe") }
    (readEnd, writeEnd) = (ends[0], ends[1])
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }

  /// A full pipe refuses the byte, and needs none: it is readable already.
  func signal() {
    var byte: UInt8 = 1
    unsafe write(writeEnd, &byte, 1)
  }

  func clear() {
    var bytes = [UInt8](repeating: 0, count: 512)
    while unsafe read(readEnd, &bytes, bytes.count) == bytes.count {}
  }
}
