import Glibc
import Synchronization

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

  var isCurrent: Bool { pthread_equal(id, pthread_self()) != 0 }

  /// Waits for the end; on the thread itself, only gives up the right to.
  func join() {
    if isCurrent {
      _ = pthread_detach(id)
    } else {
      _ = pthread_join(id, nil)
    }
  }
}
