internal import Glibc

/// A thread of our own, with every signal blocked: signals are the host program's business.
struct SystemThread: Sendable {
  private let id: pthread_t

  /// Starts a thread; nil when the system has none left to give.
  static func start(_ body: @escaping @Sendable () -> Void) -> SystemThread? {
    let box = unsafe Unmanaged.passRetained(ThreadBody(body))
    var id = pthread_t()
    let status = withSignalsBlocked {
      unsafe pthread_create(&id, nil, runThreadBody, box.toOpaque())
    }
    guard status == 0 else {
      unsafe box.release()
      return nil
    }
    return SystemThread(id: id)
  }

  /// Waits for its end; once. Traps on the thread itself, which would wait for ever.
  func join() {
    precondition(
      pthread_equal(id, pthread_self()) == 0, "NetSpool: a worker job must not stop its own worker")
    pthread_join(id, nil)
  }

  /// Instead of `join`: nobody will wait for its end.
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
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func runThreadBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  let body = unsafe Unmanaged<ThreadBody>.fromOpaque(context!).takeRetainedValue()
  body.run()
  return nil
}
