import Dispatch
import Glibc
import Synchronization

/// What the user's signals ask of the job: nothing, drain, or quit.
final class StopSwitch: Sendable {
  private struct State {
    var first: Int32 = 0
    var presses = 0
    var drains = false
    var wake: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// A switch that SIGINT, SIGTERM and SIGHUP press from its first use on.
  static let onSignals = {
    let stop = StopSwitch()
    SignalWatcher.start(stop)
    return stop
  }()

  /// Called after each press, on the thread that noticed the signal.
  /// - Parameter drains: what is under way may take its time to end.
  func onPress(drains: Bool = false, _ wake: @escaping @Sendable () -> Void) {
    state.withLock { ($0.wake, $0.drains) = (wake, drains) }
  }

  /// The first signal is heard, and all that is under way ends in good order.
  var isDraining: Bool { state.withLock { $0.drains && $0.presses == 1 } }

  /// Notes one more signal. The first signal's number names the exit status.
  func press(_ signal: Int32) {
    let wake = state.withLock { state in
      if state.presses == 0 { state.first = signal }
      state.presses += 1
      return state.wake
    }
    wake?()
  }

  /// True from the second signal on.
  var isQuitting: Bool { state.withLock { $0.presses > 1 } }

  /// What the process tells its caller after a signal; nil as long as none has come.
  var status: JobStatus? { state.withLock { $0.presses > 0 ? JobStatus.signal($0.first) : nil } }
}

/// Turns SIGINT, SIGTERM and SIGHUP to presses of a `StopSwitch`: the first drains, the second quits.
///
/// Where nothing drains, the first quits as well: the process may be reading standard input, or opening a FIFO without a reader.
///
/// A thread of its own waits with `sigwait`, so there is no signal handler with its forbidden calls, and a
/// second Ctrl-C works even while the job's thread hangs in a write to a dead network disk.
enum SignalWatcher {
  /// How long the job may take to leave after the signal that quits; then, or at the next, the process ends.
  static let graceMilliseconds = 2_000

  /// Call before any other thread exists: threads inherit the blocked signals. Also makes a closed pipe an
  /// error (EPIPE) instead of a death.
  static func start(_ stop: StopSwitch) {
    signal(SIGPIPE, SIG_IGN)
    block()
    DispatchQueue(label: "netspool.signals", qos: .userInitiated).async { watch(stop) }
  }

  /// Keeps the watched signals from interrupting the calling thread and those it creates.
  static func block() {
    var watched = Self.watched
    unsafe pthread_sigmask(SIG_BLOCK, &watched, nil)
  }

  /// Waits for signals until the process ends. The calling thread must block them.
  static func watch(_ stop: StopSwitch, graceMilliseconds: Int = graceMilliseconds) {
    var watched = Self.watched
    while true {
      var number: Int32 = 0
      guard unsafe sigwait(&watched, &number) == 0 else { continue }
      stop.press(number)
      if stop.isDraining { continue }
      var grace = timespec(tv_sec: graceMilliseconds / 1_000, tv_nsec: graceMilliseconds % 1_000 * 1_000_000)
      // It may have begun meanwhile, and knows.
      if unsafe sigtimedwait(&watched, nil, &grace) < 0, stop.isDraining { continue }
      _exit(stop.status?.code ?? 128 + number)
    }
  }

  private static var watched: sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, SIGINT)
    unsafe sigaddset(&set, SIGTERM)
    if !isIgnored(SIGHUP) { unsafe sigaddset(&set, SIGHUP) }
    return set
  }

  /// As by `nohup`, which wants the terminal's end to change nothing. A signal that is blocked would come all the same.
  private static func isIgnored(_ number: Int32) -> Bool {
    let handler = signal(number, SIG_IGN)
    signal(number, handler)
    return unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
