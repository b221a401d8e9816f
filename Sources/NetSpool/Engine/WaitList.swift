/// Where an operation waits, and what for. What is in a list, or has a limit of time, is a `Wait`.
enum Waiting {
  /// For a slot: its place in the queue.
  case turn(Ticket)
  /// Others must end first.
  case others
  case until(Wait)
}

/// A wait: for what, for how long at most, and what follows. It goes on once, or is called off. Loop thread.
final class Wait {
  enum Reason {
    /// The store is asked what it holds.
    case look
    /// The addresses of its origin's name.
    case addresses
    /// Its turn has come, and its engine has no room, or the few places left are for engines that have none.
    case room
    /// The same for a stored body that is to go into streams.
    case playback
    /// The time of the next attempt.
    case delay
    /// A provider of credentials.
    case credentials
    /// There is no use in sending it now.
    case origin
    /// The same, and any way to others will do, whatever is known of the origin.
    case route
    /// Another asks the origin whether what is stored still holds.
    case validation
    /// Another process, or another loop, asks for the same as the operation.
    case claim(ClaimTable, KeyDigest, NetworkOperation)
    /// Its answer made worthless what was stored, and the store writes that down.
    case recording
  }

  let reason: Reason
  let since = MonotonicClock.now
  /// When it fires, the wait goes on with a failure.
  private(set) var timer: TimerTable.Key?
  private let limit: (milliseconds: UInt64, failure: NetworkError)?
  /// Nil once it has gone on or was called off.
  private var onEnd: ((NetworkError?) -> Void)?
  private var step: ((NetworkError?) -> Step)?
  fileprivate var list: WaitList?
  fileprivate var previous: Wait?
  fileprivate var next: Wait?
  fileprivate var number: BudgetCounter.Wait = -1

  /// An operation's, which `Scheduler.suspend` has wait.
  ///
  /// - Parameters:
  ///   - milliseconds: for so long at most.
  ///   - failure: what it goes on with then.
  ///   - step: what follows, perhaps with a failure for which it has waited in vain.
  init(
    _ reason: Reason, in list: WaitList? = nil, atMost milliseconds: UInt64? = nil,
    failing failure: NetworkError = NetworkError(.timedOut), then step: @escaping (NetworkError?) -> Step
  ) {
    self.reason = reason
    self.step = step
    limit = milliseconds.map { ($0, failure) }
    list?.append(self)
  }

  /// Of no operation.
  init(_ reason: Reason, in list: WaitList, onEnd: @escaping (NetworkError?) -> Void) {
    self.reason = reason
    self.onEnd = onEnd
    limit = nil
    list.append(self)
  }

  /// The operation waits from now on.
  ///
  /// - Parameter go: has it take the step that follows.
  func begin(_ timers: TimerTable, _ go: @escaping (() -> Step) -> Void) {
    guard let step = step.take() else { return }
    onEnd = { failure in go { step(failure) } }
    guard let limit else { return }
    timer = timers.after(milliseconds: limit.milliseconds) { [weak self] in self?.goOn(limit.failure) }
  }

  func goOn(_ failure: NetworkError? = nil) {
    let body = onEnd.take()
    list?.remove(self, isRefused: failure != nil)
    body?(failure)
  }

  /// Leaves its list, and nothing follows; nothing once it has gone on.
  func callOff(isRefused: Bool = true) {
    (onEnd, step) = (nil, nil)
    list?.remove(self, isRefused: isRefused)
  }
}

/// What waits for one thing, in the order in which it came. Each comes and goes at the same cost, however many there are,
/// and what has left is kept by nothing. Loop thread.
final class WaitList {
  private var first: Wait?
  private var last: Wait?
  private(set) var count = 0
  /// Where other threads see how many wait, since when, and how many were refused.
  private let counter: BudgetCounter?

  init(countedBy counter: BudgetCounter? = nil) { self.counter = counter }

  var isEmpty: Bool { count == 0 }

  func append(_ wait: Wait) {
    wait.list = self
    wait.previous = last
    if let last { last.next = wait } else { first = wait }
    last = wait
    count += 1
    if let counter { wait.number = counter.wait() }
  }

  fileprivate func remove(_ wait: Wait, isRefused: Bool) {
    let (previous, next) = (wait.previous.take(), wait.next.take())
    if let previous { previous.next = next } else { first = next }
    if let next { next.previous = previous } else { last = previous }
    wait.list = nil
    count -= 1
    counter?.end(wait.number, isRefused: isRefused)
  }

  func popFirst() -> Wait? {
    guard let wait = first else { return nil }
    remove(wait, isRefused: false)
    return wait
  }

  /// The first ones, so many or fewer.
  func take(atMost countMax: Int) -> [Wait] {
    var taken: [Wait] = []
    while taken.count < countMax, let wait = popFirst() { taken.append(wait) }
    return taken
  }
}

extension NetworkOperation {
  /// What it waits for, but for its turn and for others to end.
  var currentWait: Wait? {
    if case .waiting(.until(let wait)) = loop.phase { wait } else { nil }
  }
}

extension Wait.Reason {
  /// Others need not wait for its turn: it gives up what it has claimed.
  var givesClaimUp: Bool {
    switch self {
    case .addresses, .room: true
    default: isTold
    }
  }

  /// It was executing, and its user hears that it waits again.
  var isTold: Bool {
    switch self {
    case .delay, .credentials, .origin, .route: true
    default: false
    }
  }

  /// What its answer is, is settled: it cannot be stopped and go on later.
  var isBeyondPause: Bool {
    switch self {
    case .credentials, .playback, .recording: true
    default: false
    }
  }
}
