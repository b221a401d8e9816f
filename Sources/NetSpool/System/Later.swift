internal import Dispatch
internal import Synchronization

/// Runs closures when their time has come, on queues of Dispatch, whose own timers need descriptors: where none is left, it
/// ends the process. A thread sleeps until then, as long as there is something to come.
enum Later {
  private struct Call {
    let time: Microseconds
    let queue: DispatchQueue
    let body: @Sendable () -> Void
  }

  /// The soonest last. Nil: there is no thread.
  private static let waiting = Mutex<[Call]?>(nil)
  private static let news = SystemSemaphore()

  /// Any thread. Where the system has no thread to give, its time has come now.
  static func run(
    after delay: Duration, on queue: DispatchQueue = .global(), _ body: @escaping @Sendable () -> Void
  ) {
    let call = Call(time: MonotonicClock.now + delay.microseconds, queue: queue, body: body)
    let (isSoonest, starts) = waiting.withLock { waiting in
      let starts = waiting == nil
      var calls = waiting ?? []
      waiting = nil  // else it would be copied
      let place = calls.lastIndex { $0.time > call.time }.map { $0 + 1 } ?? 0
      calls.insert(call, at: place)
      waiting = calls
      return (place == calls.count - 1, starts)
    }
    if isSoonest { news.signal() }
    guard starts else { return }
    do {
      try SystemThread.start(name: "netspool-later") { while sleep() {} }.detach()
    } catch {
      let calls = waiting.withLock { $0.take() } ?? []
      for call in calls { call.queue.async(execute: call.body) }
    }
  }

  /// Hands out what is due, and sleeps until something else is. False when nothing is to come.
  private static func sleep() -> Bool {
    let (due, next) = waiting.withLock { waiting -> ([Call], Microseconds?) in
      guard var calls = waiting.take() else { return ([], nil) }
      let now = MonotonicClock.now
      let first = calls.lastIndex { $0.time > now }.map { $0 + 1 } ?? 0
      let due = calls[first...].reversed()
      calls.removeSubrange(first...)
      guard let next = calls.last else { return (Array(due), nil) }
      waiting = calls
      return (Array(due), next.time)
    }
    for call in due { call.queue.async(execute: call.body) }
    guard let next else { return false }
    _ = news.wait(until: next)
    return true
  }
}
