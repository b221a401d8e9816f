import Dispatch
import Glibc
import Synchronization

/// Time and waiting, as the job needs them. The tests bring a clock that jumps.
protocol Reactor: AnyObject {
  var now: Int64 { get }

  /// Returns when `input` is readable, `wake` was called since the last return, or `timeout` nanoseconds
  /// have passed; nil waits for the first two only.
  func wait(input: Int32?, timeout: Int64?)

  var wake: @Sendable () -> Void { get }
}

/// The real clock, `poll(2)`, and a pipe to itself: a byte in it wakes. (`eventfd` is not visible to Swift.)
final class PollReactor: Reactor, Sendable {
  private let readEnd: Int32
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

  var now: Int64 { MonotonicTime.now }

  func wait(input: Int32?, timeout: Int64?) {
    // poll passes over negative descriptors.
    var watched = [
      pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
      pollfd(fd: input ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    let milliseconds = timeout.map { Int32(clamping: ($0 + 999_999) / 1_000_000) } ?? -1
    unsafe poll(&watched, nfds_t(watched.count), milliseconds)
    guard watched[0].revents != 0 else { return }
    var bytes = [UInt8](repeating: 0, count: 512)
    while unsafe read(readEnd, &bytes, bytes.count) == bytes.count {}
  }

  /// A full pipe refuses the byte, and needs none: it is readable already.
  var wake: @Sendable () -> Void {
    { [self] in
      var byte: UInt8 = 1
      unsafe write(writeEnd, &byte, 1)
    }
  }
}

/// Brings finished fetches from the network's threads to the job's. The first of a batch pays the wake-up.
final class FinishedFetches: Sendable {
  typealias Finish = (id: Int, outcome: FetchOutcome)

  private let finished = Mutex<[Finish]>([])
  private let wake: @Sendable () -> Void

  init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  func add(_ finish: Finish) {
    let isFirst = finished.withLock { finished in
      finished.append(finish)
      return finished.count == 1
    }
    if isFirst { wake() }
  }

  /// Returns all that have come since the last call, in order.
  func takeAll() -> [Finish] {
    finished.withLock { finished in
      defer { finished = [] }
      return finished
    }
  }
}

/// Brings events from other threads to one that waits for them.
final class Inbox<Event: Sendable>: Sendable {
  private let events = Mutex<[Event]>([])
  private let news = DispatchSemaphore(value: 0)

  func put(_ event: Event) {
    events.withLock { $0.append(event) }
    news.signal()
  }

  func next(until deadline: DispatchTime = .distantFuture) -> Event? {
    guard news.wait(timeout: deadline) == .success else { return nil }
    return events.withLock { $0.removeFirst() }
  }
}
