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
}
