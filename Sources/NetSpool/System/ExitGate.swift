internal import CNetSpoolShims
internal import Glibc
internal import Synchronization

/// Keeps our threads out of the way of a process that ends.
///
/// exit(3) takes the C libraries apart on the thread that calls it, while other threads still use them: a
/// loop in the middle of a TLS handshake would crash. So each of our threads passes this gate whenever it
/// begins to work, and once the process exits it stops there for good. The exit waits until what was
/// told to be stored is written, and all have stopped, sleep, or run closures of the program, for a second at
/// most: that is much for a call into a library, also on a machine that is busy, and a thread that is stuck
/// in a write to a dead mount uses nothing that could go away under it.
enum ExitGate {
  /// Threads at work.
  private static let busy = Atomic(0)
  private static let isClosed = Atomic(false)
  /// A test may have more, whose machine may be busy.
  static let patience = Atomic<Microseconds>(1_000_000)

  /// This thread, one of ours, begins to work.
  static func enter() {
    busy.add(1, ordering: .sequentiallyConsistent)
    guard isClosed.load(ordering: .sequentiallyConsistent) else { return }
    leave()
    while true { pause() }
  }

  /// Notes that the thread sleeps, or ends.
  static func leave() { busy.subtract(1, ordering: .sequentiallyConsistent) }

  /// Runs a wait of any thread, or closures of the program.
  static func waiting<Result>(_ wait: () -> Result) -> Result {
    guard cnetspool_thread_is_counted() != 0 else { return wait() }
    cnetspool_thread_count(0)
    leave()
    defer {
      enter()
      cnetspool_thread_count(1)
    }
    return wait()
  }

  /// Called when the first thread starts, and again once libcurl has made its TLS library ready and once
  /// libvips has loaded its modules: exit handlers run in the opposite order of their registration, and ours
  /// must come before those of the libraries.
  static func arm(_ moment: Moment) {
    // Now, and not when the process ends: by then it may be another.
    _ = generation
    switch moment {
    case .threads: _ = isArmedForThreads
    case .libraries: _ = isArmedForLibraries
    case .pictures: _ = isArmedForPictures
    }
  }

  enum Moment { case threads, libraries, pictures }

  private static let isArmedForThreads: Bool = atexit { ExitGate.close() } == 0
  private static let isArmedForLibraries: Bool = atexit { ExitGate.close() } == 0
  private static let isArmedForPictures: Bool = atexit { ExitGate.close() } == 0
  private static let generation = ForkGuard.begin()

  /// What is still done while our threads may go on, until a moment at most.
  private static let lastWorks = Mutex<[@Sendable (Microseconds) -> Void]>([])

  static func beforeClosing(_ work: @escaping @Sendable (Microseconds) -> Void) {
    lastWorks.withLock { $0.append(work) }
  }

  private static func close() {
    // In a child of fork(2) none of those threads is there.
    guard ForkGuard.generation == generation, !isClosed.load(ordering: .sequentiallyConsistent) else {
      return
    }
    let deadline = MonotonicClock.now + patience.load(ordering: .relaxed)
    for work in lastWorks.withLock({ $0 }) { work(deadline) }
    guard !isClosed.exchange(true, ordering: .sequentiallyConsistent) else { return }
    let own = Int(cnetspool_thread_is_counted())
    while busy.load(ordering: .sequentiallyConsistent) > own, MonotonicClock.now < deadline { usleep(500) }
  }
}
