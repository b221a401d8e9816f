import Testing

@testable import NetSpool

private func attempt(
  _ cause: FailedAttempt.Cause = .failure(.connectionLost), number: Int = 1,
  method: NetworkRequest.Method = .get, isKeyed: Bool = false, isReplayable: Bool = true,
  sendState: NetworkError.SendState = .maybeProcessed, wasReused: Bool = false, retryAfter: Double? = nil,
  secondsLeft: Double = .infinity
) -> FailedAttempt {
  FailedAttempt(
    cause: cause, number: number, method: method, isKeyed: isKeyed, isReplayable: isReplayable,
    sendState: sendState, wasReused: wasReused, retryAfter: retryAfter, secondsLeft: secondsLeft)
}

private let dead = attempt(wasReused: true)

private func decide(
  _ attempt: FailedAttempt, _ policy: NetworkRequest.Retry, random: Double = 0.5
) -> Double? {
  var budget = RetryBudget()
  return retryDecision(attempt, policy: policy, budget: &budget, random: random)
}

@Suite struct RetryDecisionTests {
  @Test func `a policy may repeat any method, any failure, and after a pause of its own`() {
    var policy = NetworkRequest.Retry.attempts(3)
    let posted = attempt(.status(503), method: .post)
    #expect(decide(posted, policy) == nil)
    policy.methods = .any
    policy.pause = .seconds(2)
    #expect(decide(posted, policy) == 2)
    #expect(decide(attempt(.status(503), retryAfter: 5), policy) == 5)
    #expect(decide(attempt(.status(404)), policy) == nil)
    policy.repeatsAnyFailure = true
    #expect(decide(attempt(.status(404)), policy) == 2)
    #expect(decide(attempt(.failure(.tlsRejected)), policy) == 2)
    #expect(decide(attempt(.failure(.cancelled)), policy) == nil)
  }

  @Test func `a policy that names methods repeats those and no others`() {
    let policy = NetworkRequest.Retry.attempts(3, methods: [.get, .post])
    #expect(decide(attempt(.status(503)), policy) == 0.25)
    #expect(decide(attempt(.status(503), method: .post), policy) == 0.25)
    #expect(decide(attempt(.status(503), method: .put, isKeyed: true), policy) == nil)
    // What was sent and lost may have been done.
    #expect(decide(attempt(.failure(.connectionLost), method: .post), policy) == nil)
    // The silent repeat goes by what is safe, as ever.
    #expect(decide(attempt(.failure(.connectionLost), method: .put, wasReused: true), policy) == 0)
    #expect(decide(attempt(.status(503)), .attempts(3, methods: [])) == nil)
  }

  /// What follows by the policy for dead connections and by the standard one; nil: give up.
  @Test(
    arguments: [
      ("dead reused connection", dead, 0, 0),
      ("the second death is no longer silent", attempt(number: 2, wasReused: true), nil, 0.5),
      ("death of a fresh connection", attempt(), nil, 0.25),
      ("death in the middle of an answer", attempt(sendState: .answered, wasReused: true), nil, 0.25),
      ("POST on a dead connection", attempt(method: .post, wasReused: true), nil, nil),
      ("keyed POST on a dead connection", attempt(method: .post, isKeyed: true, wasReused: true), 0, 0),
      ("a consumed upload stream is not sent again", attempt(isReplayable: false, wasReused: true), nil, nil),
      ("POST, never sent", attempt(.failure(.connectFailed), method: .post, sendState: .notSent), nil, nil),
      ("keyed POST, 503", attempt(.status(503), method: .post, isKeyed: true), nil, 0.25),
      ("POST, 503", attempt(.status(503), method: .post), nil, nil),
      ("second attempt", attempt(.status(500), number: 2), nil, 0.5),
      ("third attempt is the last", attempt(.status(500), number: 3), nil, nil),
      ("Retry-After is a floor", attempt(.status(429), retryAfter: 7), nil, 7),
      ("Retry-After below the jitter", attempt(.status(429), retryAfter: 0.1), nil, 0.25),
      ("Retry-After is cut to an hour", attempt(.status(503), retryAfter: 1e9), nil, 3600),
      ("no time left for the wait", attempt(.status(503), retryAfter: 7, secondsLeft: 6), nil, nil),
      ("past the deadline, dead connection", attempt(wasReused: true, secondsLeft: 0), nil, nil),
    ] as [(String, FailedAttempt, Double?, Double?)])
  func `the three policies decide`(
    _ name: String, _ attempt: FailedAttempt, _ deadConnection: Double?, _ standard: Double?
  ) {
    #expect(decide(attempt, .none) == nil, "\(name)")
    #expect(decide(attempt, .deadConnection) == deadConnection, "\(name)")
    #expect(decide(attempt, .standard) == standard, "\(name)")
  }

  @Test func `only transient statuses are repeated`() {
    let repeated = (100..<600).filter { decide(attempt(.status($0)), .standard) != nil }
    #expect(repeated == [408, 425, 429, 500, 502, 503, 504])
  }

  @Test func `only failures of the network are repeated`() {
    let repeated = NetworkError.Code.Word.allCases.map(NetworkError.Code.init).filter {
      decide(attempt(.failure($0)), .standard) != nil
    }
    #expect(
      Set(repeated) == [
        .resolveFailed, .connectFailed, .timedOut, .connectionLost, .transportFailed, .http2Failed,
        .truncatedHeaders, .bodyTruncated,
      ])
  }

  @Test(arguments: [(1, 0.5), (2, 1.0), (3, 2.0), (6, 16.0), (7, 30.0), (8, 30.0), (1_000, 30.0)])
  func `the wait is drawn between zero and the doubled capped base`(_ number: Int, _ span: Double) {
    let policy = NetworkRequest.Retry(attemptsMax: 2_000)
    let failed = attempt(.status(500), number: number)
    #expect(decide(failed, policy, random: 0) == 0)
    #expect(decide(failed, policy, random: 0.5) == span / 2)
    #expect(decide(failed, policy, random: 0.999) == 0.999 * span)
  }

  @Test func `a policy of one's own decides which statuses are transient`() {
    let policy = NetworkRequest.Retry(
      attemptsMax: 2, backoffBaseSeconds: 4, retryAfterSecondsMax: 10, repeatsOnDeadConnection: false,
      statuses: [418])
    #expect(decide(attempt(.status(418)), policy) == 2)
    #expect(decide(attempt(.status(418), retryAfter: 60), policy) == 10)
    #expect(decide(attempt(.status(503)), policy) == nil)
  }
}

@Suite struct RetryBudgetTests {
  @Test func `retries stay within a tenth of the requests and the reserve`() {
    var budget = RetryBudget()
    var retries = 0
    for _ in 0..<1_000 {
      budget.didSendRequest()
      if retryDecision(attempt(.status(503)), policy: .standard, budget: &budget, random: 0.5) != nil {
        retries += 1
      }
    }
    #expect((109...110).contains(retries))
  }

  @Test func `ten requests pay for one retry`() {
    var budget = RetryBudget(reserve: 0)
    for _ in 0..<9 { budget.didSendRequest() }
    #expect(budget.withdraw() == false)
    budget.didSendRequest()
    #expect(budget.withdraw() == true)
    #expect(budget.withdraw() == false)
  }

  @Test func `a long good time saves up only the maximum`() {
    var budget = RetryBudget(retriesMax: 5)
    for _ in 0..<10_000 { budget.didSendRequest() }
    #expect((0..<20).count { _ in budget.withdraw() } == 5)
  }

  @Test func `the silent repeat, a refused retry and one that came too soon cost nothing`() {
    var budget = RetryBudget(share: 0, reserve: 1)
    var paced = attempt(.status(429), number: 2)
    paced.isPaced = true
    #expect(retryDecision(paced, policy: .standard, budget: &budget, random: 0) != nil)
    for _ in 0..<5 {
      #expect(retryDecision(dead, policy: .standard, budget: &budget, random: 0.5) == 0)
      #expect(retryDecision(attempt(.status(404)), policy: .standard, budget: &budget, random: 0.5) == nil)
    }
    #expect(budget.withdraw() == true)
  }
}
