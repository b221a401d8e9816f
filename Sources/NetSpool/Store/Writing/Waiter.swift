/// One thread waits for another, once.
final class Waiter: Sendable {
  private let semaphore = SystemSemaphore()

  func signal() { semaphore.signal() }
  func wait() { semaphore.wait() }
}
