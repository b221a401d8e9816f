import Glibc

/// The thread an origin runs on. Not a dispatch queue: it blocks in `poll` for as long as the origin lives, and
/// a pool of worker threads has an end.
struct OriginThread: Sendable {
  private final class Start: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private let id: pthread_t

  init(_ body: @escaping @Sendable () -> Void) throws(OriginError) {
    let start = unsafe Unmanaged.passRetained(Start(body))
    var id = pthread_t()
    // All signals stay with the host's threads.
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    let result = unsafe pthread_create(
      &id, nil,
      { context in
        unsafe Unmanaged<Start>.fromOpaque(context!).takeRetainedValue().body()
        return nil
      }, start.toOpaque())
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    guard result == 0 else {
      unsafe start.release()
      throw OriginError(call: "pthread_create", errno: result)
    }
    self.id = id
  }

  /// Waits for the end; on the thread itself, only gives up the right to.
  func join() {
    if pthread_equal(id, pthread_self()) != 0 {
      _ = pthread_detach(id)
    } else {
      _ = pthread_join(id, nil)
    }
  }
}

/// A pair of sockets that wakes the origin's thread. It lives as long as the origin, over all its restarts, so no wake-up
/// can go to a descriptor that meanwhile belongs to another file.
final class Waker: Sendable {
  let readEnd: Int32
  private let writeEnd: Int32

  init() throws(OriginError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe socketpair(AF_UNIX, Socket.kind, 0, &ends) == 0 else {
      throw OriginError(call: "socketpair", errno: errno)
    }
    readEnd = ends[0]
    writeEnd = ends[1]
  }

  deinit {
    _ = close(readEnd)
    _ = close(writeEnd)
  }

  /// From any thread. A full socket is fine: the thread will wake anyway.
  func wake() {
    var byte: UInt8 = 1
    _ = unsafe write(writeEnd, &byte, 1)
  }

  func drain() {
    var bytes = [UInt8](repeating: 0, count: 256)
    while unsafe bytes.withUnsafeMutableBytes({ unsafe read(readEnd, $0.baseAddress, $0.count) }) == 256 {}
  }
}

/// Connections by the time at which they want to go on, the soonest first: a binary heap.
struct TimerHeap {
  typealias Entry = (due: ContinuousClock.Instant, connection: OriginConnection)

  private var entries: [Entry] = []

  var soonest: ContinuousClock.Instant? { entries.first?.due }

  mutating func add(_ connection: OriginConnection, due: ContinuousClock.Instant) {
    entries.append((due, connection))
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].due < entries[parent].due else { return }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  /// Takes the soonest if its time has come.
  mutating func takeDue(_ now: ContinuousClock.Instant) -> Entry? {
    guard let first = entries.first, first.due <= now else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty {
      entries[0] = last
      sink()
    }
    return first
  }

  private mutating func sink() {
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < entries.count else { return }
      if child + 1 < entries.count, entries[child + 1].due < entries[child].due { child += 1 }
      guard entries[child].due < entries[parent].due else { return }
      entries.swapAt(child, parent)
      parent = child
    }
  }
}
