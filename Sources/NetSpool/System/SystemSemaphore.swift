internal import CNetSpoolShims
internal import Glibc

/// A counting semaphore: no descriptor, and no system call unless somebody sleeps.
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

  func wait() { while unsafe sem_wait(semaphore) != 0 && errno == EINTR {} }

  /// The same, but no longer than until `MonotonicClock` shows so much. False when nobody signalled.
  func wait(until deadline: Microseconds) -> Bool {
    while true {
      if unsafe cnetspool_semaphore_wait_until(semaphore, deadline) == 0 { return true }
      if errno != EINTR { return false }
    }
  }
}
