/// The state machine: an event goes in, the record changes, an action comes out. Nothing is done here.
extension FrozenRecord {
  /// - Parameter random: evenly distributed in 0..<1.
  mutating func handle(
    _ event: FrozenEvent, at now: ClockMoment, policy: FrozenPolicy, random: Double
  ) -> FrozenAction {
    facts.noteAge(at: now)
    switch (facts.state, event) {
    case (.ready, .launched(let epoch)): return launch(epoch, now, policy)
    case (.ready, .expired): return die(.expired, isOutcomeUnknown: facts.firstSend != nil)
    case (.ready, .doubted): return doubt(now, policy)
    case (.ready, .cancelled): return die(.cancelled, isOutcomeUnknown: facts.firstSend != nil)
    case (.ready, .damaged): return die(.corrupt, isOutcomeUnknown: facts.firstSend != nil)
    case (.inFlight, .answered(let status, let retryAfter, let mayAskAgain)):
      return answer(status, retryAfter, mayAskAgain, (now, policy, random))
    case (.inFlight, .failed(let code, let sendState)): return fail(code, sendState, (now, policy, random))
    case (.inFlight, .abandoned): return abandon((now, policy, random))
    case (.inFlight, .parked(let sendState)): return park(sendState, now, policy)
    case (.inFlight, .cancelled): return die(.cancelled, isOutcomeUnknown: true)
    case (.inFlight, .damaged):
      // Met before its bytes could leave, so only earlier attempts count.
      return die(.corrupt, isOutcomeUnknown: !facts.flags.contains(.isFirstSendOpen))
    case (.dead, .revived): return revive(now)
    default:
      let name = "\(event)".prefix { $0 != "(" }
      preconditionFailure("NetSpool: a frozen request that is \(facts.state) cannot be \(name)")
    }
  }

  /// What a decision looks at besides the record.
  private typealias Situation = (now: ClockMoment, policy: FrozenPolicy, random: Double)
}

// MARK: Attempts

extension FrozenRecord {
  /// Checks again, when a turn comes long after the last attempt, whether sending is still safe.
  private mutating func launch(_ epoch: UInt32, _ now: ClockMoment, _ policy: FrozenPolicy) -> FrozenAction {
    if facts.isExpired(at: now) { return die(.expired, isOutcomeUnknown: facts.firstSend != nil) }
    let isForced = facts.flags.contains(.isRevived)
    guard facts.firstSend == nil || isForced || isReplaySafe(at: now, policy: policy) else {
      return die(.outcomeUnknown)
    }
    facts.state = .inFlight
    facts.attempts += 1
    facts.epoch = epoch
    if facts.firstSend == nil {
      facts.firstSend = FrozenFacts.Mark(wall: now.wall, age: facts.storedAge)
      facts.flags.insert(.isFirstSendOpen)
    }
    return .send
  }

  private mutating func answer(
    _ status: Int, _ retryAfter: Double?, _ mayAskAgain: Bool, _ situation: Situation
  ) -> FrozenAction {
    // Such a request "has not been applied" (RFC 9110 section 15.5.2): it may go again whatever its method.
    let isRefused = status == 401 || status == 407
    endAttempt(.answered, isApplied: !isRefused)
    facts.lastStatus = UInt16(clamping: status)
    facts.offlineFailures = 0
    lastError = nil
    if isSuccess(status) {
      facts.state = .done
      return .deliver
    }
    lastError = .status
    if mayAskAgain, isRefused { return wait(0, .ours, situation.now) }
    // The origin is still busy with an earlier attempt: it knows the key, and will answer it.
    let isBusy = status == 409 && request.sendsKey
    guard isBusy || situation.policy.statusesRepeated.contains(status) else { return die(.rejected) }
    return repeatLater(retryAfter, situation)
  }

  private func isSuccess(_ status: Int) -> Bool {
    (200..<400).contains(status) || (status == 404 && request.method == .delete)
  }

  private mutating func fail(
    _ code: NetworkError.Code, _ sendState: NetworkError.SendState, _ situation: Situation
  ) -> FrozenAction {
    lastError = code
    endAttempt(sendState)
    // What the origin refuses comes as its answer. This is a provider of credentials that failed.
    let isOfProvider = code == .authenticationFailed
    if code.traits.contains(.isLasting), !isOfProvider {
      return die(.rejected, isOutcomeUnknown: sendState != .notSent || facts.firstSend != nil)
    }
    guard sendState == .notSent else {
      facts.offlineFailures = 0
      return repeatLater(nil, situation)
    }
    facts.offlineFailures += 1
    let failures = facts.offlineFailures
    return wait(
      situation.policy.backoff(afterFailures: failures, random: situation.random), .network, situation.now)
  }

  /// Handles an attempt that may have reached the origin, which may do better next time.
  private mutating func repeatLater(_ retryAfter: Double?, _ situation: Situation) -> FrozenAction {
    let policy = situation.policy
    guard facts.firstSend == nil || isReplaySafe(at: situation.now, policy: policy) else {
      return die(.outcomeUnknown)
    }
    guard facts.attempts < policy.attemptsMax else {
      return die(.poisoned, isOutcomeUnknown: lastError != .status)
    }
    if retryAfter != nil { facts.flags.insert(.isWaitStated) }
    let time = policy.wait(afterFailures: facts.attempts, retryAfter: retryAfter, random: situation.random)
    return wait(time, .origin, situation.now, isStated: retryAfter != nil)
  }

  private mutating func abandon(_ situation: Situation) -> FrozenAction {
    facts.crashAttempts += 1
    endAttempt(.maybeProcessed)
    guard isReplaySafe(at: situation.now, policy: situation.policy) else { return die(.outcomeUnknown) }
    guard facts.crashAttempts < situation.policy.crashAttemptsMax else {
      return die(.crashed, isOutcomeUnknown: true)
    }
    return wait(0, .ours, situation.now)
  }

  /// Counts as an attempt that may have been made.
  private mutating func doubt(_ now: ClockMoment, _ policy: FrozenPolicy) -> FrozenAction {
    facts.attempts += 1
    facts.flags.remove(.isRevived)
    if facts.firstSend == nil { facts.firstSend = FrozenFacts.Mark(wall: now.wall, age: facts.storedAge) }
    guard isReplaySafe(at: now, policy: policy) else { return die(.outcomeUnknown) }
    return .wait(facts.wait(at: now, policy: policy), .ours)
  }

  private mutating func park(
    _ sendState: NetworkError.SendState, _ now: ClockMoment, _ policy: FrozenPolicy
  ) -> FrozenAction {
    endAttempt(sendState)
    let isSafe = sendState == .notSent || isReplaySafe(at: now, policy: policy)
    return isSafe ? wait(0, .ours, now) : die(.outcomeUnknown)
  }
}

// MARK: Changes of state

extension FrozenRecord {
  /// An attempt of which no byte left was none. A revival has had its attempt once that may have had its effect.
  private mutating func endAttempt(_ sendState: NetworkError.SendState, isApplied: Bool = true) {
    if sendState == .notSent { facts.attempts -= 1 }
    if sendState != .notSent, isApplied {
      facts.flags.remove(.isRevived)
    } else if facts.flags.contains(.isFirstSendOpen) {
      facts.firstSend = nil
    }
    facts.flags.remove(.isFirstSendOpen)
  }

  private mutating func wait(
    _ time: Microseconds, _ cause: FrozenAction.Cause, _ now: ClockMoment, isStated: Bool = false
  ) -> FrozenAction {
    facts.state = .ready
    facts.notBeforeWall = time == 0 ? 0 : now.wall + time
    if isStated { facts.flags.insert(.isWaitStated) } else { facts.flags.remove(.isWaitStated) }
    return .wait(time, cause)
  }

  private mutating func die(
    _ reason: DeadLetterCause.Reason, isOutcomeUnknown: Bool = false
  ) -> FrozenAction {
    facts.state = .dead
    return .deadLetter(DeadLetterCause(reason, isOutcomeUnknown: isOutcomeUnknown))
  }

  /// As if it had just been accepted, but with the key under which it may have been sent, and with the knowledge
  /// of when that was: the caller asks for one more attempt, and no origin remembers a key for longer for that.
  private mutating func revive(_ now: ClockMoment) -> FrozenAction {
    let before = facts
    facts = FrozenFacts(at: now, lifetime: before.lifetime)
    facts.flags = before.flags.intersection([.isUnordered, .atLeastOnce]).union(.isRevived)
    facts.firstSend = before.firstSend.map { mark in
      FrozenFacts.Mark(wall: mark.wall, age: mark.age - before.storedAge)
    }
    lastError = nil
    return .wait(0, .ours)
  }
}

/// What happens to a frozen request.
enum FrozenEvent: Sendable, Hashable {
  /// The request's turn has come: an attempt is recorded. `epoch`: of this opening of the store.
  case launched(epoch: UInt32)
  /// An answer came, whole. `retryAfter` in seconds. `mayAskAgain`: there is a provider to ask for other
  /// credentials, and this attempt did not have its answer yet.
  case answered(status: Int, retryAfter: Double? = nil, mayAskAgain: Bool = false)
  /// No answer came, or not all of it.
  case failed(NetworkError.Code, NetworkError.SendState)
  /// The process that sent it went away.
  case abandoned
  /// What is known of it may be older than an attempt: it comes out of a damaged file.
  case doubted
  /// The engine shuts down and has ended the attempt.
  case parked(NetworkError.SendState)
  case expired
  case cancelled
  /// The request's body is not what was written.
  case damaged
  /// A caller wants a dead one sent after all.
  case revived
}

/// The change to be recorded, and then carried out.
enum FrozenAction: Sendable, Hashable {
  /// Send it, once the attempt is recorded.
  case send
  /// Back to its lane, not before the time is over.
  case wait(Microseconds, Cause)
  /// The answer is its outcome.
  case deliver
  case deadLetter(DeadLetterCause)

  enum Cause: Sendable, Hashable {
    /// Nothing could be sent: a change of the network ends the wait.
    case network
    /// The origin was reached, or may have been.
    case origin
    /// Nothing is known about the origin: a restart, a revival, other credentials.
    case ours
  }
}
