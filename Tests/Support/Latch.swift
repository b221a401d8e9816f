import Dispatch
import Synchronization

/// Something that happens once, and that a test awaits or blocks on.
final class Latch: Sendable {
  private let state = Mutex<(isOpen: Bool, waiters: [CheckedContinuation<Void, Never>])>((false, []))
  private let semaphore = DispatchSemaphore(value: 0)

  func open() {
    let waiters = state.withLock { state in
      defer { state = (true, []) }
      return state.waiters
    }
    semaphore.signal()
    for waiter in waiters { waiter.resume() }
  }

  func opened() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiters.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Blocks the thread; for closures of the kit that are to be slow.
  func block() {
    semaphore.wait()
    semaphore.signal()
  }

  var isOpen: Bool { state.withLock { $0.isOpen } }
}
