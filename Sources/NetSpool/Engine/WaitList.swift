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
    /// The authorities by which its connection is verified.
    case authorities
    /// Its turn has come, and its engine has no room.
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
  /// When it fires, the wait has been in vain.
  private(set) var timer: TimerTable.Key?
  /// Why it was in vain.
  private(set) var failure: NetworkError?
  private let next: Step
  private let limit: (milliseconds: UInt64, next: Step?, failure: NetworkError?)?
  private var onEnd: ((NetworkError?) -> Void)?
  /// The operation that waits; nil once it has gone on or was called off.
  private var operation: NetworkOperation?
  private var context: LoopContext?
  fileprivate var list: WaitList?
  fileprivate var previous: Wait?
  fileprivate var follower: Wait?
  fileprivate var number: BudgetCounter.Wait = -1

  /// - Parameters:
  ///   - next: what follows for the operation that `Scheduler.suspend` has wait.
  ///   - milliseconds: for so long at most.
  ///   - late: what follows then, if that is something else.
  ///   - failure: why the operation has waited in vain then.
  ///   - onEnd: called instead, where no operation waits.
  init(
    _ reason: Reason, in list: WaitList? = nil, then next: Step = .done, atMost milliseconds: UInt64? = nil,
    late: Step? = nil, failing failure: NetworkError? = nil, onEnd: ((NetworkError?) -> Void)? = nil
  ) {
    self.reason = reason
    self.next = next
    self.onEnd = onEnd
    limit = milliseconds.map { ($0, late, failure) }
    list?.append(self)
  }

  /// The operation waits from now on.
  func begin(_ operation: NetworkOperation, _ context: LoopContext) {
    self.operation = operation
    self.context = context
    guard let limit else { return }
    timer = context.timers.after(milliseconds: limit.milliseconds) { [weak self] in
      self?.goOn(limit.failure, with: limit.next)
    }
  }

  /// - Parameter step: what follows instead of what was to.
  func goOn(_ failure: NetworkError? = nil, with step: Step? = nil) {
    list?.remove(self, isRefused: failure != nil)
    self.failure = failure
    if let operation = operation.take() { context?.goOn(operation, step ?? next) }
    onEnd.take()?(failure)
  }

  /// Leaves its list, and nothing follows; nothing once it has gone on.
  func callOff(isRefused: Bool = true) {
    (onEnd, operation) = (nil, nil)
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
    if let last { last.follower = wait } else { first = wait }
    last = wait
    count += 1
    if let counter { wait.number = counter.wait() }
  }

  fileprivate func remove(_ wait: Wait, isRefused: Bool) {
    let (previous, next) = (wait.previous.take(), wait.follower.take())
    if let previous { previous.follower = next } else { first = next }
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
    case .addresses, .authorities, .room: true
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
    case .playback, .recording: true
    default: false
    }
  }
}
