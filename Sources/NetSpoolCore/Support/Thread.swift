internal import CNetSpoolShims
internal import Glibc

/// A POSIX thread with every signal blocked: signals are the host program's, and SIGPIPE must never reach
/// it from our writes (pthread_sigmask(3)).
package enum Thread {
  private final class Start {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Starts a joinable thread; the error number says why there is none.
  package static func start(
    name: String, _ body: @escaping @Sendable () -> Void
  ) -> Result<UInt, SystemFailure> {
    let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)  // inherited by the new thread
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    let code = unsafe pthread_create(
      &thread, nil,
      { context in
        let start = unsafe Unmanaged<Start>.fromOpaque(context!).takeRetainedValue()
        unsafe cnetspool_thread_name(start.name)
        start.body()
        return nil
      }, start.toOpaque())
    guard code == 0 else {
      unsafe start.release()
      return .failure(SystemFailure(errno: code))
    }
    return .success(thread)
  }

  package struct SystemFailure: Error { package let errno: Int32 }
}
