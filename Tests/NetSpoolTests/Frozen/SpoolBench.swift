import Testing

@testable import NetSpool
@testable import TestSupport
@testable import netspool_crash

/// A spool on its real store, an origin that does as the seed says, and a model that knows what was promised.
final class SpoolBench: FrozenSpoolOwner {
  struct Letter {
    var lane: String
    var isUnordered: Bool
    var isRepeatable: Bool
    var key: String
    var content: [UInt8]
    var state = State.live
    /// Times that bytes left, since it was accepted or revived.
    var bytesOut = 0

    enum State { case live, finished, dead, acknowledged, discarded }
  }

  let comment: Comment
  let policy: FrozenPolicy
  var random: SplitMix64
  var now = ClockMoment.at(0)
  var isOnline = true
  var isHealthy = false
  private(set) var directory: TestFolder
  private(set) var store: FrozenStore
  private(set) var spool: FrozenSpool!
  private(set) var letters: [FrozenID: Letter] = [:]
  private(set) var keys: Set<String> = []
  /// On its way: whether its bytes have left.
  private(set) var inFlight: [FrozenID: Bool] = [:]
  private(set) var sends = 0
  private(set) var crashes = 0
  private(set) var peakBytes = 0
  private var serial = 0
  /// The store's answers that the spool has not heard yet.
  private var notices: [FrozenNotice] = []

  init(seed: UInt64) throws {
    comment = "seed \(seed)"
    random = SplitMix64(seed: seed)
    var policy = FrozenPolicy.standard
    policy.attemptsMax = 4
    policy.haltsLaneOnPoison = seed % 2 == 1
    self.policy = policy
    directory = try TestFolder(in: TestFiles.fast)
    store = try directory.openFrozen(Self.keeping)
    beginSpool()
  }

  private func beginSpool() {
    notices = []
    let world = FrozenSpool.World(now: { [unowned self] in now }, random: { [unowned self] in random.unit() })
    spool = FrozenSpool(store, policy: policy, world: world, owner: self)
    if !isOnline { spool.scheduler.isSuspended = true }
  }

  /// The bench has a clock of its own; the store's must not sweep away what it wrote.
  private static func keeping(_ settings: inout FrozenStoreSettings) { settings.keptMax = 1 << 60 }

  // MARK: Steps

  func step() throws {
    switch random.next() % 100 {
    case 0..<28: accept()
    case 28..<58: endOne()
    case 58..<64: cancelOne()
    case 64..<69: acknowledgeOne()
    case 69..<72: try reviveOrDiscard()
    case 72..<90: now = advanced(by: Double(random.next() % 4_000) / 1_000)
    case 90: now = advanced(by: Double(random.next() % 90_000))
    case 91: setClock()
    case 92: setOnline(false)
    case 93..<96: setOnline(true)
    case 97 where random.chance(30): try restart()
    default: barrier()
    }
    if random.chance(60) { notices += spool.journal.write() }
    takeSome()
    spool.pump()
  }

  private func advanced(by seconds: Double) -> ClockMoment {
    let time = Microseconds(seconds * 1_000_000)
    return ClockMoment(wall: now.wall + time, monotonic: now.monotonic + time, boot: now.boot)
  }

  private func setClock() {
    let shifts: [Microseconds] = [-.hour, .hour, -400 * .second, -3 * .day]
    now.wall += shifts[Int(random.next() % 4)]
  }

  private func setOnline(_ isOnline: Bool) {
    guard self.isOnline != isOnline else { return }
    self.isOnline = isOnline
    spool.scheduler.isSuspended = !isOnline
    if isOnline { spool.thaw() }
  }

  private func accept() {
    serial += 1
    let lane = "\(random.next() % 4)"
    let method: NetworkRequest.Method = random.chance(70) ? .post : .put
    let body = Array("body \(serial) ".utf8) + [UInt8](repeating: 1, count: Int(random.next() % 6_000))
    var request = FrozenRequest(
      method: method, url: "https://example.org/\(serial)", key: IdempotencyKey(using: &random), lane: lane)
    if random.chance(20) { request.keyField = "" }
    request.tag = "tag"
    var options = FreezeOptions()
    options.isOrdered = lane != "3"
    let lifetime = Duration.seconds(random.chance(10) ? 60 : 7 * 86_400)
    let letter = Letter(
      lane: lane, isUnordered: !options.isOrdered, isRepeatable: method == .put || request.sendsKey,
      key: request.key.text, content: Self.content(request, body))
    #expect(keys.insert(letter.key).inserted, comment)
    let draft = FrozenDraft(request, body: body, options: options, lifetime: lifetime, at: spool.world.now())
    spool.accept(draft) { [unowned self] result in
      guard let receipt = try? result.get() else {
        Issue.record("not accepted: \(result)")
        return
      }
      #expect(letters.updateValue(letter, forKey: FrozenID(receipt.number)) == nil, comment)
      #expect((try? store.row(receipt.number)) != nil, comment)
    }
  }

  private static func content(_ request: FrozenRequest, _ body: [UInt8]) -> [UInt8] {
    Array(request.method.name.utf8) + Array(request.url.utf8) + body
  }

  // MARK: The origin

  func maySend(_ id: FrozenID, _ record: FrozenRecord) -> Bool { true }

  func send(_ id: FrozenID, _ record: FrozenRecord, body: [UInt8]) {
    sends += 1
    guard var letter = letters[id] else {
      // Accepted before a crash, and the word of it was lost.
      Issue.record("unknown \(id)")
      return
    }
    #expect(letter.state == .live, "\(comment): \(id) is \(letter.state)")
    #expect(letter.key == record.request.key.text, comment)
    #expect(letter.content == Self.content(record.request, body), comment)
    #expect(isOnline, comment)
    #expect(!record.facts.isExpired(at: now), comment)
    let leaves = random.chance(80)
    if leaves {
      #expect(letter.isRepeatable || letter.bytesOut == 0, "\(comment): \(id) sent twice")
      letter.bytesOut += 1
      #expect(letter.bytesOut <= Int(record.facts.attempts), comment)
    }
    let companions = letters.filter { $0.value.state == .live && $0.value.lane == letter.lane }
    if !letter.isUnordered { #expect(companions.keys.min() == id, "\(comment): \(id) out of order") }
    #expect(inFlight.keys.filter { companions[$0] != nil }.count < (letter.isUnordered ? 4 : 1), comment)
    letters[id] = letter
    inFlight[id] = leaves
  }

  private func endOne() {
    guard let id = inFlight.keys.sorted().randomElement(using: &random), let left = inFlight[id] else {
      return
    }
    inFlight[id] = nil
    spool.didEnd(id, ending(left), body: Array("done".utf8))
  }

  private func ending(_ left: Bool) -> FrozenEvent {
    guard left else { return .failed(random.chance(50) ? .connectFailed : .resolveFailed, .notSent) }
    if isHealthy || random.chance(40) { return .answered(status: 200) }
    switch random.next() % 6 {
    case 0: return .failed(.connectionLost, .maybeProcessed)
    case 1: return .answered(status: 503, retryAfter: Double(random.next() % 9_000))
    case 2: return .answered(status: 409)
    case 3: return .answered(status: 400)
    case 4: return .failed(.timedOut, .maybeProcessed)
    default: return .answered(status: 500)
    }
  }

  func abort(_ id: FrozenID) { inFlight[id] = nil }

  // MARK: What came of it

  func didFinish(_ id: FrozenID, _ outcome: FrozenOutcome) {
    #expect(letters[id]?.state == .live, "\(comment): \(id) ended twice")
    #expect((try? store.ending(.outcomes, id.number)) != nil, comment)
    #expect(outcome.key == letters[id]?.key, comment)
    letters[id]?.state = .finished
  }

  func didBecomeDeadLetter(_ id: FrozenID, _ letter: DeadLetter) {
    #expect(letters[id]?.state == .live, "\(comment): \(id) ended twice")
    #expect((try? store.ending(.deadLetters, id.number)) != nil, comment)
    #expect(letter.record != nil && letter.cause.reason != .corrupt, comment)
    letters[id]?.state = .dead
  }

  func didPostpone(_ id: FrozenID, _ record: FrozenRecord) {
    #expect(letters[id]?.state == .live && record.state == .ready, comment)
  }

  func didNotLaunch(_ id: FrozenID) {}
  func didFail(_ failure: NetworkError) { Issue.record("\(failure)") }

  private func ids(_ state: Letter.State) -> [FrozenID] {
    letters.filter { $0.value.state == state }.keys.sorted()
  }

  private func some(_ state: Letter.State) -> FrozenID? { ids(state).randomElement(using: &random) }

  private func discard(_ id: FrozenID) {
    spool.discard(id)
    letters[id]?.state = .discarded
  }

  private func cancelOne() {
    if let id = some(.live) { _ = spool.cancel(id) }
  }

  private func acknowledgeOne() {
    guard let id = some(.finished) else { return }
    letters[id]?.state = .acknowledged
    spool.acknowledge(id)
  }

  private func reviveOrDiscard() throws {
    sync()
    guard let id = some(.dead) else { return }
    if random.chance(50) {
      discard(id)
    } else {
      spool.revive(id) { [unowned self] result in
        guard (try? result.get()) != nil else { return }
        letters[id]?.state = .live
        letters[id]?.bytesOut = 0
      }
    }
    sync()
  }

  // MARK: Time and the store

  /// Has all written that was decided.
  func barrier() { notices += spool.journal.writeAll() }

  /// As if the commits were far apart: what is decided meanwhile knows nothing of the answers that are left.
  private func takeSome() {
    let count = Int(random.next() % UInt64(notices.count + 1))
    let taken = notices.prefix(count)
    notices.removeFirst(count)
    for notice in taken { spool.take(notice) }
  }

  /// Until nothing is on its way to or from the store.
  func sync() {
    while true {
      barrier()
      let taken = notices
      notices = []
      if taken.isEmpty { return }
      for notice in taken { spool.take(notice) }
    }
  }

  // MARK: Ends of the process

  /// Everything goes well, and the process ends.
  private func restart() throws {
    spool.park { [unowned self] id in inFlight[id] == true ? .maybeProcessed : .notSent }
    inFlight = [:]
    sync()
    store.close()
    store = try directory.openFrozen(Self.keeping)
    try reopen()
  }

  /// The process is gone from one moment to the next: what was committed is there, and nothing else.
  func crash() throws {
    crashes += 1
    let next = try TestFolder(in: TestFiles.fast)
    try copy(to: next)
    inFlight = [:]
    store.close()
    directory = next
    store = try directory.openFrozen(Self.keeping)
    try reopen()
  }

  /// While nobody writes.
  private func copy(to next: TestFolder) throws {
    let directory = directory
    let copied = try directory.writeFrozen { _ throws(StoreError) in
      Result {
        try next.write("data.mdb", directory.read("data.mdb"))
        try next.write("stamp", directory.read("stamp"))
      }
    }
    try copied.get()
  }

  /// The model and the store must agree, and the model learns what the last process did not hear of.
  private func reopen() throws {
    // Another process, or another boot.
    if random.chance(50) {
      now.monotonic = Microseconds(random.next() % 1_000_000_000)
      now.boot += 1
    }
    #expect(store.opening.found == .whole && store.damaged.isEmpty, comment)
    let waiting = Set(try store.numbers)
    let outcomes = Set(try store.endings(.outcomes).map(\.number))
    let dead = Set(try store.endings(.deadLetters).map(\.number))
    for (id, letter) in letters {
      let places = [waiting, outcomes, dead].count { $0.contains(id.number) }
      switch letter.state {
      case .live: #expect(places == 1, "\(comment): \(id) is in \(places) places")
      case .finished: #expect(places == 1 && outcomes.contains(id.number), "\(comment): \(id)")
      case .dead: #expect(places == 1, "\(comment): \(id)")
      case .acknowledged: #expect(places == 0 || outcomes.contains(id.number), "\(comment): \(id)")
      case .discarded: #expect(places == 0 || dead.contains(id.number), "\(comment): \(id)")
      }
      if outcomes.contains(id.number) { letters[id]?.state = .finished }
      if dead.contains(id.number) { letters[id]?.state = .dead }
      if waiting.contains(id.number) { letters[id]?.state = .live }
    }
    try learn(waiting)
    beginSpool()
  }

  /// What was accepted and never said so is sent all the same.
  private func learn(_ waiting: Set<UInt64>) throws {
    for number in waiting where letters[FrozenID(number)] == nil {
      let row = try #require(try store.row(number))
      let record = try #require(FrozenRecord.decoded(row.payload, at: now))
      #expect(record.facts.attempts == 0, comment)
      let body = try store.write(.attempt(number, payload: row.payload)).body
      letters[FrozenID(number)] = Letter(
        lane: record.request.lane, isUnordered: record.facts.flags.contains(.isUnordered),
        isRepeatable: record.request.method == .put || record.request.sendsKey, key: record.request.key.text,
        content: Self.content(record.request, body))
    }
  }

  // MARK: Checks

  func check() throws {
    sync()
    let seen = try FrozenTablesSeen(store)
    #expect(seen.isConsistent, comment)
    #expect(seen.rec == Set(ids(.live).map(\.number)), comment)
    #expect(spool.count == seen.rec.count, comment)
    #expect(seen.outbox == Set(ids(.finished).map(\.number)), comment)
    #expect(seen.dead == Set(ids(.dead).map(\.number)), comment)
    #expect(try store.deadLetters(at: spool.world.now()).count == seen.dead.count, comment)
    peakBytes = max(peakBytes, store.statistics.bytes)
  }

  /// With an origin that answers, everything comes to its end.
  func drain() throws {
    isHealthy = true
    setOnline(true)
    sync()
    for id in ids(.dead) { discard(id) }
    for _ in 0..<20_000 where spool.count > 0 {
      sync()
      spool.pump()
      sync()
      while !inFlight.isEmpty { endOne() }
      if let due = spool.nextDue, due > now.monotonic {
        now = advanced(by: Double(due - now.monotonic) / 1e6)
      }
      for id in ids(.dead) { discard(id) }
    }
    sync()
    #expect(spool.count == 0, comment)
    #expect(try store.numbers.isEmpty, comment)
    #expect(try directory.read("data.mdb").count <= 2 * peakBytes + 16 << 20, comment)
  }
}
