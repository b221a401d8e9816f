import Testing

@testable import NetSpool
@testable import TestSupport

/// What is written is what is read, and what was not written is not read.
struct FrozenEncodingTests {
  private static let now = ClockMoment.at(0)

  private static func full() -> FrozenRecord {
    var request = FrozenRequest(
      method: .patch, url: "https://example.org/ä?q=1", key: IdempotencyKey(), lane: "uploads")
    var fields = Headers()
    fields.append(name: "Content-Type", value: "text/plain")
    fields.append(name: "Authorization", value: "Bearer SECRET-1")
    fields.append(name: "X-Api-Key", value: "SECRET-2")
    fields.append(name: "Cookie", value: "a=SECRET-3")
    request.setHeaders(fields, isSecret: Redaction.standard.isSecret(header:))
    request.tag = ""
    request.userInfo = [0, 1, 255]
    request.scope = "engine"
    request.dedupeKey = "once"
    request.bodyBytes = 12
    var facts = FrozenFacts(at: now, lifetime: .day)
    facts.flags = [.isUnordered, .isWaitStated]
    facts.attempts = 3
    facts.crashAttempts = 1
    facts.offlineFailures = 9
    facts.epoch = 77
    facts.firstSend = FrozenFacts.Mark(wall: now.wall - 5, age: 12)
    facts.notBeforeWall = now.wall + 500
    facts.lastStatus = 503
    return FrozenRecord(request: request, facts: facts, lastError: .timedOut)
  }

  @Test func `a record comes back as it was`() throws {
    for record in [Self.full(), .sample(), .sample(keyed: false)] {
      let bytes = record.encode(at: Self.now)
      #expect(FrozenRecord.decoded(bytes, at: Self.now) == record)
      let facts = FrozenFacts(decoding: bytes.rawBytes, at: Self.now)
      #expect(facts == record.facts)
    }
  }

  @Test func `no secret is written`() throws {
    let record = Self.full()
    #expect(!String(decoding: record.encode(at: Self.now), as: UTF8.self).contains("SECRET"))
    #expect(record.request.secretFields == ["Authorization", "Cookie", "X-Api-Key"])
    #expect(record.request.headers.map(\.name) == ["Content-Type"])
  }

  @Test func `no part of a record is one`() {
    let bytes = Self.full().encode(at: Self.now)
    for count in 0..<bytes.count {
      #expect(FrozenRecord.decoded(Array(bytes[..<count]), at: Self.now) == nil)
    }
    #expect(FrozenRecord.decoded((bytes + [0]), at: Self.now) == nil)
  }

  @Test(arguments: [4, 8, 12]) func `counts that could not go on are refused`(offset: Int) {
    var bytes = Self.full().encode(at: Self.now)
    bytes.replaceSubrange(offset..<offset + 4, with: [255, 255, 255, 255])
    #expect(FrozenRecord.decoded(bytes, at: Self.now) == nil)
  }

  @Test func `an attempt in flight that was not counted is refused`() {
    var record = Self.full()
    record.facts.state = .inFlight
    #expect(FrozenRecord.decoded(record.encode(at: Self.now), at: Self.now) == record)
    record.facts.attempts = 0
    #expect(FrozenRecord.decoded(record.encode(at: Self.now), at: Self.now) == nil)
  }

  @Test func `a later layout is known as such`() {
    var bytes = Self.full().encode(at: Self.now)
    bytes[0] = 2
    let isLater = FrozenRecord.isLater(bytes.rawBytes)
    #expect(isLater)
    #expect(FrozenRecord.decoded(bytes, at: Self.now) == nil)
  }

  @Test func `an outcome comes back as it was`() throws {
    var fields = Headers()
    for number in 0..<2_000 { fields.append(name: "X-\(number)", value: "value") }
    var record = Self.full()
    record.facts.lastStatus = 201
    let outcome = FrozenOutcome(record, headers: fields, body: Array("made".utf8), at: Self.now)
    #expect(FrozenOutcome.decoded(outcome.encode()) == outcome)
    #expect(outcome.headers.block.count <= FrozenOutcome.headerBytesMax)
    #expect(outcome.headers.count > 1_000)
    let bytes = outcome.encode()
    for count in stride(from: 0, to: bytes.count - 10, by: 97) {
      #expect(FrozenOutcome.decoded(Array(bytes[..<count])) == nil)
    }
  }

  @Test(arguments: [(64 << 10, false), (64 << 10 + 1, true)])
  func `a long answer is not kept`(count: Int, isCut: Bool) {
    let body = [UInt8](repeating: 1, count: count)
    let outcome = FrozenOutcome(Self.full(), headers: Headers(), body: body, at: Self.now)
    #expect(outcome.isBodyCut == isCut)
    #expect(outcome.body.count == (isCut ? 0 : count))
  }

  @Test(arguments: DeadLetterCause.Reason.allCases)
  func `a dead letter comes back as it was`(reason: DeadLetterCause.Reason) {
    let letter = DeadLetter(
      DeadLetterCause(reason, isOutcomeUnknown: true), haltsLane: true, diedWall: 5, record: Self.full())
    #expect(DeadLetter.decoded(letter.encode(at: Self.now), at: Self.now) == letter)
    let bare = DeadLetter(DeadLetterCause(reason), diedWall: 5, record: nil)
    #expect(DeadLetter.decoded(bare.encode(at: Self.now), at: Self.now) == bare)
  }

  // MARK: Keys and limits

  @Test func `keys are random UUIDs in quotes`() throws {
    var random = SplitMix64(seed: 3)
    var seen: Set<String> = []
    for _ in 0..<1_000 {
      let key = IdempotencyKey(using: &random)
      #expect(
        key.text.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
      #expect(key.wireValue == "\"\(key.text)\"")
      #expect(seen.insert(key.text).inserted)
    }
    #expect(IdempotencyKey("a\"b\\c").wireValue == "\"a\\\"b\\\\c\"")
  }

  @Test func `limits refuse by name`() {
    let limits = FrozenLimits()
    func refusal(_ change: (inout FrozenRequest) -> Void) -> NetworkError.Code? {
      var request = FrozenRecord.sample().request
      change(&request)
      return limits.refusal(of: request)?.code
    }
    #expect(refusal { _ in } == nil)
    #expect(refusal { $0.method = .get } == .invalidRequest)
    #expect(refusal { $0.bodyBytes = 16 << 20 } == nil)
    #expect(refusal { $0.bodyBytes = 16 << 20 + 1 } == .bodyTooLarge)
    #expect(refusal { $0.userInfo = [UInt8](repeating: 0, count: 4 << 10) } == nil)
    #expect(refusal { $0.userInfo = [UInt8](repeating: 0, count: 4 << 10 + 1) } == .invalidRequest)
    #expect(refusal { $0.url = String(repeating: "a", count: 9_000) } == .invalidURL)
    #expect(refusal { $0.key = IdempotencyKey("a\r\nb") } == .invalidRequest)
    #expect(refusal { $0.tag = String(repeating: "a", count: 2_000) } == .invalidRequest)
    let (longest, longer) = (String(repeating: "a", count: 512), String(repeating: "a", count: 513))
    #expect(refusal { ($0.scope, $0.lane, $0.dedupeKey) = ("s", "s\n\(longest)", "s\n\(longest)") } == nil)
    #expect(refusal { ($0.scope, $0.lane) = ("s", "s\n\(longer)") } == .invalidRequest)
    #expect(refusal { ($0.scope, $0.dedupeKey) = ("s", "s\n\(longer)") } == .invalidRequest)
  }
}
