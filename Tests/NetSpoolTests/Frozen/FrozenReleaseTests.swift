import Testing

@testable import NetSpool
@testable import TestSupport

/// A store that release 1.0 left behind when it was killed, in `Tests/Fixtures/frozen-1.0`: with requests that wait, one
/// whose bytes were on their way, outcomes that nobody took, and dead letters.
struct FrozenReleaseTests {
  /// A few minutes after it was killed, on another machine.
  private static let now = ClockMoment(wall: 1_795_334_400_000_000, monotonic: 60_000_000, boot: 7)
  private static let bodyInFlight = Array(String(repeating: "flying ", count: 3_000).utf8)

  /// A copy, as of a home that was moved: with the stamp of the machine it comes from, or with the file alone.
  private func open(withStamp: Bool) throws -> FrozenStore {
    let folder = try TestFolder(in: TestFiles.fast)
    for name in withStamp ? ["data.mdb", "stamp"] : ["data.mdb"] {
      try folder.write(name, TestFiles.read(TestFiles.fixture("frozen-1.0/\(name)")))
    }
    // What nobody takes for a week goes, and the file will be older than that.
    return try folder.openFrozen { $0.keptMax = 1 << 60 }
  }

  @Test(arguments: [true, false]) func `every record is there with its content`(withStamp: Bool) throws {
    let store = try open(withStamp: withStamp)
    #expect(store.opening.found == .whole && store.damaged.isEmpty)
    let records = try store.records(at: Self.now)
    #expect(records.map(\.id.number) == [6, 7, 8, 9, 10])
    let requests = records.map(\.record.request)
    #expect(requests.map { $0.url.dropFirst(23) } == ["later", "flying", "behind", "unordered", "bob"])
    #expect(records.map(\.record.state) == [.ready, .inFlight, .ready, .ready, .ready])
    #expect(records.map(\.record.facts.attempts) == [1, 1, 0, 0, 0])
    #expect(requests.allSatisfy { $0.headers.first("X-Kept") == "yes" })
    #expect(Set(requests.map(\.key.text)).count == 5)
    let scopes = requests.map(\.scope)
    #expect(scopes == Array(repeating: "http://letters.example", count: 4) + ["http://letters.example\nbob"])
    let lanes = ["later", "flying", "flying", "loose", "http://letters.example"]
    #expect(requests.map(\.lane) == zip(scopes, lanes).map { "\($0)\n\($1)" })

    let later = records[0].record
    #expect(later.facts.lastStatus == 503 && later.lastError == .status)
    #expect(later.facts.flags.contains(.isWaitStated))
    let flying = records[1].record
    #expect(flying.request.tag == "mail" && flying.request.userInfo == Array("mine".utf8))
    #expect(flying.request.secretFields == ["Authorization"] && flying.facts.firstSend != nil)
    #expect(records[2].record.request.dedupeKey == "\(scopes[0])\nonce")
    #expect(records[3].record.facts.flags == [.isUnordered, .atLeastOnce])
    #expect(records[4].record.request.tag == "bob")
    // And their bodies, whole
    let bodies = try records.map { record in
      try store.write(.attempt(record.id.number, payload: record.record.encode(at: Self.now))).body
    }
    let texts = ["later body", String(decoding: Self.bodyInFlight, as: UTF8.self), "behind it", "", "bob's"]
    #expect(bodies.map { String(decoding: $0, as: UTF8.self) } == texts)
    #expect(try store.accept("new") == 11)
  }

  @Test func `outcomes and dead letters are there`() throws {
    let store = try open(withStamp: true)
    let outcomes = try store.endings(.outcomes).map { ($0.number, FrozenOutcome.decoded($0.ending.payload)) }
    #expect(outcomes.map(\.0) == [1, 2])
    let first = try #require(outcomes.first?.1)
    #expect(first.status == 200 && first.tag == "mail" && first.userInfo == [1, 2, 3] && first.attempts == 1)
    #expect(
      String(decoding: first.body, as: UTF8.self) == "taken" && first.headers.first("X-Answer") == "yes")
    let letters = try store.deadLetters(at: Self.now)
    #expect(letters.map(\.id.number) == [3, 4, 5])
    #expect(letters.map(\.letter.cause.reason) == [.rejected, .poisoned, .cancelled])
    #expect(
      letters.map { $0.letter.record?.request.url.dropFirst(23) } == ["rejected", "poisoned", "cancelled"])
    #expect(letters.map { $0.letter.record?.facts.lastStatus } == [422, 503, 0])
    // Those who died then were told then
    #expect(letters.allSatisfy { $0.letter.isDelivered })
    // What was not cancelled can be revived
    let row = FrozenRow.sample("again")
    let revived = store.write([.revive(3, row), .revive(4, row), .revive(5, row)])
    #expect(revived.map { $0.failure?.code } == [nil, nil, .invalidRequest])
  }

  /// Everything that waits is sent, with its key, as it was written.
  @Test func `the requests are sent`() throws {
    let store = try open(withStamp: true)
    let keys = try store.records(at: Self.now).map { ($0.id, $0.record.request.key.text) }
    let origin = SentJournal()
    let clock = Variable(Self.now)
    let world = FrozenSpool.World(now: { clock.value }, random: { 0 })
    let spool = FrozenSpool(store, world: world, owner: origin)
    #expect(spool.failure == nil && spool.count == 5)
    for _ in 0..<1_000 where spool.count > 0 {
      spool.pump()
      clock.value.monotonic += 60 * .second
      clock.value.wall += 60 * .second
      for notice in spool.journal.writeAll() { spool.take(notice) }
      for id in origin.takeOpen() { spool.didEnd(id, .answered(status: 200)) }
    }
    #expect(spool.count == 0)
    #expect(origin.sent.sorted { $0.id < $1.id }.map(\.id) == keys.map(\.0))
    #expect(origin.sent.sorted { $0.id < $1.id }.map(\.key) == keys.map(\.1))
    #expect(origin.sent.first { $0.id == FrozenID(7) }?.body == Self.bodyInFlight)
  }
}

/// An origin that remembers what was sent.
private final class SentJournal: FrozenSpoolOwner {
  private(set) var sent: [(id: FrozenID, key: String, body: [UInt8])] = []
  private var open: [FrozenID] = []

  func takeOpen() -> [FrozenID] {
    defer { open = [] }
    return open
  }

  func maySend(_ id: FrozenID, _ record: FrozenRecord) -> Bool { true }

  func send(_ id: FrozenID, _ record: FrozenRecord, body: [UInt8]) {
    sent.append((id, record.request.key.text, body))
    open.append(id)
  }

  func abort(_ id: FrozenID) {}
  func didFinish(_ id: FrozenID, _ outcome: FrozenOutcome) {}
  func didBecomeDeadLetter(_ id: FrozenID, _ letter: DeadLetter) {
    Issue.record("\(id) died: \(letter.cause.reason)")
  }
  func didPostpone(_ id: FrozenID, _ record: FrozenRecord) {}
  func didNotLaunch(_ id: FrozenID) {}
  func didFail(_ failure: NetworkError) { Issue.record("\(failure)") }
}
