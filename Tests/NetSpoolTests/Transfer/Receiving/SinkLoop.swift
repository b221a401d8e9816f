import Glibc
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// A loop on the test's own thread: completions from a worker, and descriptors that become writable.
final class SinkLoop {
  /// The half that other threads see.
  final class Mailbox: Sendable {
    private let waiting = Mutex<[Worker.Completion]>([])
    fileprivate let wakeUp: RawPipe

    init() throws { wakeUp = try RawPipe() }

    func post(_ completion: @escaping Worker.Completion) {
      waiting.withLock { $0.append(completion) }
      wakeUp.put([1])
    }

    fileprivate func runAll() {
      let completions = waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
      for completion in completions { completion() }
    }
  }

  private struct Watch {
    var id: Int
    var descriptor: CInt
    var callback: () -> Void
  }

  let mailbox: Mailbox
  private var watches: [Watch] = []
  private var watchesMade = 0
  var watchCount: Int { watches.count }

  init() throws { mailbox = try Mailbox() }

  func makeWorker(threads: Int = 2) -> Worker {
    Worker(budgets: DeviceBudgets(heldMax: threads)) { [mailbox] completion in mailbox.post(completion) }
  }

  /// For `DescriptorSink`.
  func waitUntilWritable(_ descriptor: CInt, _ callback: @escaping () -> Void) -> () -> Void {
    watchesMade += 1
    let id = watchesMade
    watches.append(Watch(id: id, descriptor: descriptor, callback: callback))
    return { [weak self] in self?.watches.removeAll { $0.id == id } }
  }

  /// Waits for anything to happen, and handles it.
  func turn() throws {
    var polled = [pollfd(fd: mailbox.wakeUp.readEnd, events: Int16(POLLIN), revents: 0)]
    polled += watches.map { pollfd(fd: $0.descriptor, events: Int16(POLLOUT), revents: 0) }
    let count = unsafe poll(&polled, nfds_t(polled.count), Deadline.generous.millisecondsLeft)
    try #require(count > 0, "nothing happened")
    let fired = zip(watches, polled.dropFirst()).filter { $0.1.revents != 0 }.map { $0.0 }
    if polled[0].revents != 0 {
      _ = mailbox.wakeUp.take(4096)
      mailbox.runAll()
    }
    for watch in fired where watches.contains(where: { $0.id == watch.id }) {
      watches.removeAll { $0.id == watch.id }
      watch.callback()
    }
  }

  func run(until condition: () throws -> Bool) throws { while try !condition() { try turn() } }
}

/// The calls of `ready` that nobody has acted on yet.
final class ReadyCalls {
  private(set) var count = 0
  func add() { count += 1 }

  /// Whether there were any; they are forgotten.
  func take() -> Bool {
    defer { count = 0 }
    return count > 0
  }
}

/// Feeding a sink as the fan-out does.
extension SinkLoop {
  /// Offers the bytes piece by piece, keeps what is not taken, and waits for `ready`.
  func feed(_ sink: some Sink, _ bytes: [UInt8], pieces: Int = 16 << 10, isReady: () -> Bool) throws {
    var sent = 0
    while sent < bytes.count {
      let end = min(sent + pieces, bytes.count)
      let taken = try unsafe sink.write(bytes.span.bytes.extracting(sent..<end))
      if taken < end - sent { try run(until: isReady) }
      sent += taken
    }
  }

  /// Opens, feeds and finishes.
  func deliver(_ bytes: [UInt8], to sink: some Sink, expected: Int64? = nil, pieces: Int = 16 << 10) throws {
    let ready = ReadyCalls()
    try sink.open(SinkFixture.head, bytesExpected: expected, ready: ready.add)
    try feed(sink, bytes, pieces: pieces, isReady: ready.take)
    try finish(sink, nil)
  }

  func finish(_ sink: some Sink, _ failure: NetworkError?) throws {
    while try sink.finish(failure) == .pending { try turn() }
  }
}

/// A pipe, or a pair of sockets, non-blocking at its read end only.
final class RawPipe: Sendable {
  let readEnd: CInt
  private let write: Mutex<CInt>
  var writeEnd: CInt { write.withLock { $0 } }

  init(isSocket: Bool = false) throws {
    let ends = isSocket ? try Self.makeSocketPair() : try makePipe()
    _ = fcntl(ends.read, F_SETFL, O_NONBLOCK)
    readEnd = ends.read
    write = Mutex(ends.write)
  }

  private static func makeSocketPair() throws -> (read: CInt, write: CInt) {
    var ends: [CInt] = [-1, -1]
    let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    try #require(unsafe socketpair(AF_UNIX, type, 0, &ends) == 0)
    return (ends[0], ends[1])
  }

  deinit {
    close(readEnd)
    closeWriteEnd()
  }

  func closeWriteEnd() {
    write.withLock { end in
      if end >= 0 { close(end) }
      end = -1
    }
  }

  func put(_ bytes: [UInt8]) { _ = unsafe Glibc.write(writeEnd, bytes, bytes.count) }

  /// What is there now: nil when nothing is yet, empty at the end.
  func take(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let taken = unsafe read(readEnd, &bytes, count)
    return taken < 0 ? nil : Array(bytes.prefix(taken))
  }

  /// True when a reader is told of the end. A child process that is just being started keeps copies of all descriptors for a
  /// moment, so it may come a little later.
  var isAtEnd: Bool {
    var polled = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&polled, 1, Deadline.generous.millisecondsLeft)
    return take(10) == []
  }
}

/// Something one thread waits for and another opens.
final class Gate: Sendable {
  private let isOpen = Mutex(false)
  private let pipe: RawPipe

  init() throws { pipe = try RawPipe() }

  func open() {
    isOpen.withLock { $0 = true }
    pipe.closeWriteEnd()
  }

  /// False when it stayed shut.
  @discardableResult
  func wait() -> Bool {
    var polled = pollfd(fd: pipe.readEnd, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&polled, 1, Deadline.generous.millisecondsLeft)
    return isOpen.withLock { $0 }
  }
}
