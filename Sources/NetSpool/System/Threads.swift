internal import CNetSpoolShims
internal import Glibc
internal import Synchronization

/// A thread of our own, with every signal blocked: signals are the host program's, and SIGPIPE must never reach
/// it from our writes (pthread_sigmask(3)).
package struct SystemThread: Sendable {
  private let id: pthread_t

  /// The thread that asks is one of these, and runs no closure of the user.
  static var isOurs: Bool { cnetspool_thread_is_ours() != 0 }

  /// Starts a thread; of its name at most 15 bytes are kept. Throws `engineStartFailed` where the system has none to give.
  static func start(
    name: String, _ body: @escaping @Sendable () -> Void
  ) throws(NetworkError) -> SystemThread {
    ExitGate.arm(.threads)
    let box = unsafe Unmanaged.passRetained(ThreadBody(name: name, body))
    var id = pthread_t()
    let status = withSignalsBlocked { unsafe pthread_create(&id, nil, runThreadBody, box.toOpaque()) }
    guard status == 0 else {
      unsafe box.release()
      throw NetworkError(.engineStartFailed, cause: .threads, underlying: .errno(status))
    }
    return SystemThread(id: id)
  }

  /// Lets go of something for which the disk makes one wait.
  static func close(_ body: @escaping @Sendable () -> Void) { run("netspool-closing", body) }

  /// On a thread of its own, and here where there can be none: better late than never.
  static func run(_ name: String, _ body: @escaping @Sendable () -> Void) {
    do { try start(name: name, body).detach() } catch { body() }
  }

  /// The same for work on libraries that are loaded first, step by step until one is the last and says false.
  /// Once the process exits no step begins, and those under way are waited for before these libraries are
  /// taken apart.
  package static func run(
    _ name: String, loading: @escaping @Sendable () -> Void, _ step: @escaping @Sendable () -> Bool
  ) {
    run(name) {
      loading()
      ExitGate.arm(.pictures)
      repeat { ExitGate.waiting {} } while step()
    }
  }

  /// Waits for its end; once. Traps on the thread itself, which would wait for ever.
  func join() {
    precondition(pthread_equal(id, pthread_self()) == 0, "NetSpool: a thread must not wait for its own end")
    _ = ExitGate.waiting { pthread_join(id, nil) }
  }

  /// Says that no other thread will wait for this one's end: to be called instead of `join`.
  func detach() { pthread_detach(id) }

  /// A new thread inherits the mask of the one that makes it; so there is no moment at which it has another.
  private static func withSignalsBlocked(_ body: () -> CInt) -> CInt {
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    return body()
  }
}

private final class ThreadBody: Sendable {
  let name: String
  let run: @Sendable () -> Void

  init(name: String, _ run: @escaping @Sendable () -> Void) {
    self.name = name
    self.run = run
  }
}

private func runThreadBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  let body = unsafe Unmanaged<ThreadBody>.fromOpaque(context!).takeRetainedValue()
  unsafe cnetspool_thread_begin(body.name)
  ExitGate.enter()
  body.run()
  ExitGate.leave()
  return nil
}

/// A counting semaphore: no descriptor, and no system call unless a thread sleeps.
@safe struct SystemSemaphore: ~Copyable, @unchecked Sendable {
  // Safe because the memory never moves and sem_post and sem_wait are made for many threads.
  private let semaphore: UnsafeMutablePointer<sem_t>

  init() {
    unsafe semaphore = .allocate(capacity: 1)
    unsafe sem_init(semaphore, 0, 0)
  }

  deinit {
    unsafe sem_destroy(semaphore)
    unsafe semaphore.deallocate()
  }

  func signal() { unsafe sem_post(semaphore) }

  func wait() { ExitGate.waiting { while unsafe sem_wait(semaphore) != 0 && errno == EINTR {} } }

  /// The same, but no longer than until `MonotonicClock` shows so much. False when no signal came.
  func wait(until deadline: Microseconds) -> Bool {
    ExitGate.waiting {
      while true {
        if unsafe cnetspool_semaphore_wait_until(semaphore, deadline) == 0 { return true }
        if errno != EINTR { return false }
      }
    }
  }
}

/// Calls back when it has been signalled so many times.
final class Countdown: Sendable {
  private let left: Atomic<Int>
  private let onZero: @Sendable () -> Void

  init(_ count: Int, _ onZero: @escaping @Sendable () -> Void) {
    left = Atomic(count)
    self.onZero = onZero
  }

  /// Waits for one signal more; only for a caller that has not signalled yet.
  func add() { left.add(1, ordering: .relaxed) }

  func signal() {
    if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { onZero() }
  }

  /// The same, for a closure that may never run: one that is let go of has ended, too.
  func part() -> Part {
    add()
    return Part(self)
  }

  final class Part: Sendable {
    private let whole: Countdown
    private let isOver = Once()

    fileprivate init(_ whole: Countdown) { self.whole = whole }

    deinit { end() }

    func end() { if isOver.first() { whole.signal() } }
  }
}

/// A flag that one caller of many finds unset. Any thread.
final class Once: Sendable {
  private let isPassed = Atomic(false)

  var isPast: Bool { isPassed.load(ordering: .acquiring) }

  /// True for the first caller alone.
  func first() -> Bool { !isPassed.exchange(true, ordering: .acquiringAndReleasing) }
}
