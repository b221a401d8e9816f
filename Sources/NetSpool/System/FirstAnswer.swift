internal import Dispatch
internal import Synchronization

/// The first of several answers, for one who waits. Any thread.
final class FirstAnswer<Answer: Sendable>: Sendable {
  private let state = Mutex<(waiting: CheckedContinuation<Answer, Never>?, answer: Answer?)>((nil, nil))

  var isGiven: Bool { state.withLock { $0.answer != nil } }

  func give(_ answer: Answer) {
    let waiting = state.withLock { state in
      if state.answer != nil { return CheckedContinuation<Answer, Never>?.none }
      defer { state = (nil, answer) }
      return state.waiting
    }
    waiting?.resume(returning: answer)
  }

  /// Asked for once.
  var value: Answer {
    get async {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state in
          if state.answer == nil { state.waiting = continuation }
          return state.answer
        }
        if let answer { continuation.resume(returning: answer) }
      }
    }
  }

  /// Blocks until the closure that `ask` gets has been called, and answers with what. For programs that have nothing else to
  /// do: not on a loop, nor where closures of users run.
  static func wait(for ask: (@escaping @Sendable (Answer) -> Void) -> Void) -> Answer {
    let done = DispatchSemaphore(value: 0)
    let answer = Mutex<Answer?>(nil)
    ask { given in
      answer.withLock { $0 = given }
      done.signal()
    }
    done.wait()
    guard let given = answer.withLock({ $0 }) else {
      preconditionFailure("NetSpool: no answer after the signal")
    }
    return given
  }
}
