internal import CNetSpoolShims
internal import Glibc
internal import Synchronization

/// Keeps our threads out of the way of a process that ends.
///
/// exit(3) takes the C libraries apart on the thread that calls it, while other threads still use them: a loop in the
/// middle of a TLS handshake would crash. So each of our threads passes this gate whenever it begins to work, and once
/// the process exits it stops there for good. Whoever exits waits until all have stopped or sleep, for 100 ms at
/// most: a thread that is stuck in a closure or in a write to a dead mount uses no library that could go away under it.
enum ExitGate {
  /// Threads at work.
  private static let busy = Atomic(0)
  private static let isClosed = Atomic(false)
  private static let patience: Microseconds = 100_000

  /// This thread, one of ours, begins to work.
  static func enter() {
    busy.add(1, ordering: .sequentiallyConsistent)
    guard isClosed.load(ordering: .sequentiallyConsistent) else { return }
    leave()
    while true { pause() }
  }

  /// It sleeps, or ends.
  static func leave() { busy.subtract(1, ordering: .sequentiallyConsistent) }

  /// Runs a wait of any thread.
  static func waiting<Result>(_ wait: () -> Result) -> Result {
    guard cnetspool_thread_is_ours() != 0 else { return wait() }
    leave()
    defer { enter() }
    return wait()
  }

  /// Called when the first thread starts, and again once libcurl has made its TLS library ready: exit handlers run in
  /// the opposite order of their registration, and ours must come before that library's.
  static func arm(_ moment: Moment) {
    switch moment {
    case .threads: _ = isArmedForThreads
    case .libraries: _ = isArmedForLibraries
    }
  }

  enum Moment { case threads, libraries }

  private static let isArmedForThreads: Bool = atexit { ExitGate.close() } == 0
  private static let isArmedForLibraries: Bool = atexit { ExitGate.close() } == 0
  private static let generation = ForkGuard.generation

  private static func close() {
    // In a child of fork(2) none of those threads is there.
    guard ForkGuard.generation == generation, !isClosed.exchange(true, ordering: .sequentiallyConsistent)
    else { return }
    let own = cnetspool_thread_is_ours() != 0 ? 1 : 0
    let deadline = MonotonicClock.now + patience
    while busy.load(ordering: .sequentiallyConsistent) > own, MonotonicClock.now < deadline { usleep(500) }
  }
}
