import Testing

@testable import NetSpool

/// Every transition: the event, the action, and what the record says afterwards.
struct FrozenMachineTests {
  typealias Record = FrozenRecord

  // MARK: Before it is sent

  @Test func `a turn is an attempt`() {
    var record = Record.sample()
    #expect(record.meet(.launched(epoch: 7), at: .at(5)) == .send)
    #expect(record.state == .inFlight)
    #expect(record.facts.attempts == 1)
    #expect(record.facts.epoch == 7)
    #expect(record.facts.firstSend?.wall == ClockMoment.at(5).wall)
  }

  @Test(arguments: [
    (FrozenEvent.expired, DeadLetterCause.Reason.expired, NetworkError.Code.frozenExpired),
    (.cancelled, .cancelled, .cancelled), (.damaged, .corrupt, .storeCorrupt),
  ])
  func `what waits may die`(event: FrozenEvent, reason: DeadLetterCause.Reason, code: NetworkError.Code) {
    var record = Record.sample()
    #expect(record.meet(event) == .deadLetter(DeadLetterCause(reason)))
    #expect(record.state == .dead)
    #expect(DeadLetterCause(reason).failure(record).code == code)
  }

  @Test func `an expired one is not sent`() {
    var record = Record.sample()
    #expect(
      record.meet(.launched(epoch: 1), at: .at(7 * 86_400 + 1)) == .deadLetter(DeadLetterCause(.expired)))
    #expect(record.facts.attempts == 0)
  }

  /// What comes out of a damaged file may have been sent since.
  @Test func `a request that is in doubt is sent again only when that is safe`() {
    var keyed = Record.sample()
    #expect(keyed.meet(.doubted) == .wait(0, .ours))
    #expect(keyed.state == .ready && keyed.facts.attempts == 1 && keyed.facts.firstSend != nil)
    var unkeyed = Record.sample(keyed: false)
    #expect(unkeyed.meet(.doubted) == .deadLetter(DeadLetterCause(.outcomeUnknown)))
    var repeatable = Record.sample(.put, keyed: false)
    #expect(repeatable.meet(.doubted) == .wait(0, .ours))
  }

  // MARK: Answers

  @Test(arguments: [
    (Method.post, 200), (.post, 201), (.put, 204), (.post, 303), (.patch, 304), (.delete, 404),
  ])
  func `a success is the outcome`(method: Method, status: Int) {
    var record = Record.sent(method)
    #expect(record.meet(.answered(status: status)) == .deliver)
    #expect(record.state == .done)
    #expect(record.facts.lastStatus == UInt16(status))
  }

  @Test(arguments: [400, 403, 404, 405, 410, 422, 501, 505, 423, 507])
  func `a refusal is final`(status: Int) {
    var record = Record.sent()
    #expect(record.meet(.answered(status: status)) == .deadLetter(DeadLetterCause(.rejected)))
    let failure = DeadLetterCause(.rejected).failure(record)
    #expect(failure.code == .frozenRejected)
    #expect(failure.reason == "\(status)")
    #expect(failure.sendState == .answered)
  }

  @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
  func `a passing answer is tried again`(status: Int) {
    // Given the third attempt of a keyed POST
    var record = Record.sent(attempts: 3)
    // When its answer may pass, then it waits for half of 4 s
    #expect(record.meet(.answered(status: status), at: .at(9)) == .wait(2 * .second, .origin))
    #expect(record.state == .ready)
    #expect(record.facts.notBeforeWall == ClockMoment.at(11).wall)
    #expect(record.facts.attempts == 3)
  }

  @Test(arguments: [423, 507]) func `a policy may add statuses`(status: Int) {
    var policy = FrozenPolicy.standard
    policy.statusesRepeated.insert(status)
    var record = Record.sent(.put)
    #expect(record.meet(.answered(status: status), policy: policy) == .wait(.second / 2, .origin))
  }

  @Test(arguments: [true, false]) func `a conflict is busyness only with a key`(isKeyed: Bool) {
    var record = Record.sent(keyed: isKeyed)
    let action = record.meet(.answered(status: 409))
    #expect(action == (isKeyed ? .wait(.second / 2, .origin) : .deadLetter(DeadLetterCause(.rejected))))
  }

  @Test(arguments: [401, 407]) func `a provider is asked for other credentials once`(status: Int) {
    var record = Record.sent()
    #expect(record.meet(.answered(status: status, mayAskAgain: true)) == .wait(0, .ours))
    record.meet(.launched(epoch: 1))
    #expect(record.meet(.answered(status: status)) == .deadLetter(DeadLetterCause(.rejected)))
  }

  @Test(arguments: [(30.0, 30.0), (0.1, 0.5), (1e9, 3600)])
  func `Retry-After is a floor with a ceiling`(stated: Double, waited: Double) {
    var record = Record.sent()
    let action = record.meet(.answered(status: 503, retryAfter: stated))
    #expect(action == .wait(Microseconds(waited * 1_000_000), .origin))
    #expect(record.facts.flags.contains(.isWaitStated))
  }

  @Test func `the last attempt poisons`() {
    var record = Record.sent(attempts: 12)
    #expect(record.meet(.answered(status: 500)) == .deadLetter(DeadLetterCause(.poisoned)))
    #expect(DeadLetterCause(.poisoned).failure(record).code == .frozenPoisoned)
    #expect(DeadLetterCause(.poisoned).failure(record).reason == "attempts 12")
    #expect(DeadLetterCause(.poisoned).failure(record).sendState == .answered)
  }

  @Test func `the end of what may have arrived says so`() {
    var silent = Record.sent(attempts: 12)
    let poisoned = DeadLetterCause(.poisoned, isOutcomeUnknown: true)
    #expect(silent.meet(.failed(.timedOut, .maybeProcessed)) == .deadLetter(poisoned))
    #expect(!poisoned.failure(silent).isRetrySafe)
    var refused = Record.sent()
    refused.meet(.failed(.connectionLost, .maybeProcessed))
    refused.meet(.launched(epoch: 1), at: .at(100))
    let rejected = DeadLetterCause(.rejected, isOutcomeUnknown: true)
    #expect(refused.meet(.failed(.egressDenied, .notSent), at: .at(100)) == .deadLetter(rejected))
  }

  // MARK: No answer

  /// Nor what was refused when a provider of credentials failed.
  @Test(arguments: [
    NetworkError.Code.resolveFailed, .connectFailed, .tlsRejected, .offline, .timedOut, .authenticationFailed,
  ])
  func `what never left is no attempt`(code: NetworkError.Code) {
    var record = Record.sent()
    #expect(record.meet(.failed(code, .notSent)) == .wait(.second / 2, .network))
    #expect(record.facts.attempts == 0)
    #expect(record.facts.offlineFailures == 1)
    #expect(record.facts.firstSend == nil)
    #expect(record.lastError == code)
  }

  @Test func `what never left leaves earlier attempts alone`() {
    var record = Record.sent()
    record.meet(.answered(status: 503), at: .at(2))
    record.meet(.launched(epoch: 1), at: .at(4))
    record.meet(.failed(.connectFailed, .notSent), at: .at(5))
    #expect(record.facts.attempts == 1)
    #expect(record.facts.firstSend?.wall == ClockMoment.at(1).wall)
  }

  @Test(
    arguments: [
      (.post, true, [], true), (.post, false, [], false), (.put, false, [], true), (.delete, false, [], true),
      (.patch, false, .atLeastOnce, true), (.patch, true, [], true), (.patch, false, [], false),
    ] as [(Method, Bool, FrozenFacts.Flags, Bool)])
  func `what may have arrived is repeated only when that is safe`(
    method: Method, isKeyed: Bool, flags: FrozenFacts.Flags, isSafe: Bool
  ) {
    var record = Record.sent(method, keyed: isKeyed, flags: flags)
    let action = record.meet(.failed(.connectionLost, .maybeProcessed))
    #expect(action == (isSafe ? .wait(.second / 2, .origin) : .deadLetter(DeadLetterCause(.outcomeUnknown))))
    if !isSafe { #expect(DeadLetterCause(.outcomeUnknown).failure(record).code == .outcomeUnknown) }
  }

  @Test(arguments: [NetworkError.Code.egressDenied, .redirectRefused, .invalidConfiguration])
  func `what can never be sent is rejected`(code: NetworkError.Code) {
    var record = Record.sent()
    #expect(record.meet(.failed(code, .notSent)) == .deadLetter(DeadLetterCause(.rejected)))
    #expect(DeadLetterCause(.rejected).failure(record).reason == code.description)
    #expect(DeadLetterCause(.rejected).failure(record).isRetrySafe)
  }

  // MARK: Crashes, shutdowns, cancels

  @Test func `a crash is counted and the third poisons`() {
    var record = Record.sent()
    for crash in 1...2 {
      #expect(record.meet(.abandoned) == .wait(0, .ours))
      #expect(record.facts.crashAttempts == UInt32(crash))
      record.meet(.launched(epoch: UInt32(crash) + 1))
    }
    #expect(record.meet(.abandoned) == .deadLetter(DeadLetterCause(.crashed, isOutcomeUnknown: true)))
    #expect(DeadLetterCause(.crashed).failure(record).reason == "crashes 3")
  }

  @Test func `a crash of what must not be repeated ends it`() {
    var record = Record.sent(keyed: false)
    #expect(record.meet(.abandoned) == .deadLetter(DeadLetterCause(.outcomeUnknown)))
  }

  @Test(arguments: [
    (true, NetworkError.SendState.notSent, true), (true, .maybeProcessed, true), (false, .notSent, true),
    (false, .maybeProcessed, false),
  ])
  func `a shutdown is no crash`(isKeyed: Bool, sendState: NetworkError.SendState, survives: Bool) {
    var record = Record.sent(keyed: isKeyed)
    let action = record.meet(.parked(sendState))
    #expect(action == (survives ? .wait(0, .ours) : .deadLetter(DeadLetterCause(.outcomeUnknown))))
    #expect(record.facts.crashAttempts == 0)
    #expect(record.facts.attempts == (sendState == .notSent ? 0 : 1))
  }

  @Test func `a cancel underway leaves the outcome unknown`() {
    var record = Record.sent()
    #expect(record.meet(.cancelled) == .deadLetter(DeadLetterCause(.cancelled, isOutcomeUnknown: true)))
    #expect(DeadLetterCause(.cancelled, isOutcomeUnknown: true).failure(record).sendState == .maybeProcessed)
  }

  // MARK: Revival

  @Test func `the dead come back with their key`() {
    var record = Record.sent(attempts: 12)
    record.meet(.answered(status: 500))
    #expect(record.meet(.revived, at: .at(100)) == .wait(0, .ours))
    #expect(record.facts.attempts == 0)
    #expect(record.request.key == IdempotencyKey("k"))
    #expect(record.state == .ready)
  }

  @Test func `a revived one is sent once more whatever is known`() {
    // Given one that must not be repeated, and may have arrived
    var record = Record.sent(keyed: false)
    record.meet(.failed(.connectionLost, .maybeProcessed))
    // When the caller takes the risk
    record.meet(.revived)
    // Then it is sent, and only once
    #expect(record.meet(.launched(epoch: 1)) == .send)
    #expect(
      record.meet(.failed(.connectionLost, .maybeProcessed)) == .deadLetter(DeadLetterCause(.outcomeUnknown)))
  }

  @Test func `a revived one that did not get through is sent all the same, until it has been sent`() {
    var record = Record.sent(keyed: false)
    record.meet(.failed(.connectionLost, .maybeProcessed))
    record.meet(.revived)
    let unsent: [FrozenEvent] = [
      .failed(.connectFailed, .notSent), .parked(.notSent), .answered(status: 401, mayAskAgain: true),
    ]
    for event in unsent {
      #expect(record.meet(.launched(epoch: 1)) == .send)
      record.meet(event)
      #expect(record.state == .ready)
    }
    #expect(record.meet(.launched(epoch: 1)) == .send)
    #expect(record.meet(.abandoned) == .deadLetter(DeadLetterCause(.outcomeUnknown)))
  }

  /// It is known that the origin has done nothing.
  @Test func `a request whose credentials were refused goes again whatever its method`() {
    var record = Record.sent(keyed: false)
    #expect(record.meet(.answered(status: 401, mayAskAgain: true)) == .wait(0, .ours))
    #expect(record.facts.attempts == 1 && record.facts.firstSend == nil)
    #expect(record.meet(.launched(epoch: 1)) == .send)
    #expect(
      record.meet(.failed(.connectionLost, .maybeProcessed)) == .deadLetter(DeadLetterCause(.outcomeUnknown)))
  }

  // MARK: What must not happen

  @Test func `an impossible event names state and event`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var record = FrozenRecord.sample()
      record.meet(.answered(status: 200))
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("a frozen request that is ready cannot be answered"))
  }
}
