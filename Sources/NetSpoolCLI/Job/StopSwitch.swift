import Synchronization

/// What the user's signals ask of the job: nothing, drain, or quit.
final class StopSwitch: Sendable {
  enum Wish: Equatable { case none, drain(signal: Int32), quit(signal: Int32) }

  private struct State {
    var first: Int32 = 0
    var presses = 0
    var wake: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// Called after each press, on the thread that noticed the signal.
  func onPress(_ wake: @escaping @Sendable () -> Void) {
    state.withLock { $0.wake = wake }
  }

  /// Notes one more signal and says what is wished now. The first signal's number names the exit status.
  @discardableResult
  func press(_ signal: Int32) -> Wish {
    let wake = state.withLock { state in
      if state.presses == 0 { state.first = signal }
      state.presses += 1
      return state.wake
    }
    wake?()
    return wish
  }

  var wish: Wish {
    state.withLock { state in
      switch state.presses {
      case 0: .none
      case 1: .drain(signal: state.first)
      default: .quit(signal: state.first)
      }
    }
  }
}
