#if DEBUG
import Glibc
@testable import NetSpool
@testable import TestSupport

/// One life of a process that freezes requests, sends them to nobody, and says what it was told. It ends as it was
/// told to: killed by itself after so many answers, or in order.
final class RecordedLife: FrozenSpoolOwner {
  private let store: FrozenStore
  private var answersLeft: Int
  private var spool: FrozenSpool!
  private var random: SplitMix64
  private var skipped: Microseconds = 0
  private var inFlight: [FrozenID] = []
  private var finished: [FrozenID] = []
  private var dead: [FrozenID] = []
  private var serial = 0

  init(directory: String, seed: UInt64, answersMax: Int) throws {
    random = SplitMix64(seed: seed)
    var settings = FrozenStoreSettings(directory: directory)
    settings.bytesMax = 64 << 20
    settings.keptMax = 1 << 60
    store = try FrozenStore.open(settings)
    answersLeft = answersMax
    var policy = FrozenPolicy.standard
    policy.attemptsMax = 3
    let world = FrozenSpool.World(
      now: { [unowned self] in
        ClockMoment(wall: WallClock.microseconds + skipped, monotonic: BootClock.now + skipped)
      },
      random: { [unowned self] in random.unit() })
    spool = FrozenSpool(store, policy: policy, world: world, owner: self)
    finished = try store.endings(.outcomes).map { FrozenID($0.number) }
    dead = try store.deadLetters(at: world.now()).map(\.id)
  }

  func run(steps: Int) {
    for _ in 0..<steps {
      step()
      if random.chance(60) { take(spool.journal.write()) }
      spool.pump()
    }
    spool.park { _ in .notSent }
    spool.finish()
    store.close()
  }

  private func step() {
    switch random.below(100) {
    case 0..<35: accept()
    case 35..<60: endOne()
    case 60..<65: if let id = takeOne(&inFlight) { _ = spool.cancel(id) }
    case 65..<72: acknowledgeOne()
    case 72..<78: reviveOrDiscard()
    case 78..<88: skipped += Microseconds(random.below(4_000_000))
    default: wait()
    }
  }

  private func takeOne(_ ids: inout [FrozenID]) -> FrozenID? {
    ids.isEmpty ? nil : ids.remove(at: random.below(ids.count))
  }

  // MARK: Steps

  private func accept() {
    serial += 1
    let long = random.chance(15) ? random.below(30_000) : random.below(400)
    let body =
      Array("body \(serial) ".utf8) + (0..<long).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    var request = FrozenRequest(
      method: random.chance(70) ? .post : .put, url: "https://example.org/\(serial)",
      key: IdempotencyKey(using: &random), lane: "\(random.below(5))")
    request.tag = "power"
    if random.chance(30) { request.dedupeKey = request.key.text }
    let content = FrozenContent.digest(method: request.method.name, url: request.url, body: body)
    let draft = FrozenDraft(request, body: body, lifetime: .seconds(7 * 86_400), at: spool.world.now())
    spool.accept(draft) { [unowned self] result in
      guard case .success(let receipt) = result else { return fail("\(result)") }
      CrashFiles.say("ACK \(receipt.number) \(request.key.text) \(content)")
    }
  }

  private func endOne() {
    guard let id = takeOne(&inFlight) else { return }
    switch random.below(10) {
    case 0..<5: spool.didEnd(id, .answered(status: 200), body: Array("done".utf8))
    case 5..<7: spool.didEnd(id, .answered(status: 503))
    case 7: spool.didEnd(id, .answered(status: 400))
    case 8: spool.didEnd(id, .failed(.connectFailed, .notSent))
    default: spool.didEnd(id, .failed(.connectionLost, .maybeProcessed))
    }
  }

  private func acknowledgeOne() {
    guard let id = takeOne(&finished) else { return }
    CrashFiles.say("GONE \(id.number)")
    spool.acknowledge(id)
  }

  private func reviveOrDiscard() {
    guard let id = takeOne(&dead) else { return }
    if random.chance(40) {
      CrashFiles.say("DROP \(id.number)")
      spool.discard(id)
    } else {
      CrashFiles.say("BACK \(id.number)")
      // One without its body stays dead.
      spool.revive(id) { _ in }
    }
  }

  /// Between two commits, so that no call is cut in two, and the next life finds what this one noted.
  private func take(_ notices: [FrozenNotice]) {
    answersLeft -= notices.count
    if answersLeft <= 0 { kill(getpid(), SIGKILL) }
    for notice in notices { spool.take(notice) }
  }

  /// Until all that was decided so far is written.
  private func wait() {
    while spool.journal.isWaiting { take(spool.journal.writeBatch()) }
  }

  private func fail(_ why: String) {
    CrashFiles.say("FAIL \(why)")
    exit(1)
  }

  // MARK: FrozenSpoolOwner

  func maySend(_ id: FrozenID, _ record: FrozenRecord) -> Bool { true }

  func send(_ id: FrozenID, _ record: FrozenRecord, body: [UInt8]) { inFlight.append(id) }

  func abort(_ id: FrozenID) { inFlight.removeAll { $0 == id } }

  func didFinish(_ id: FrozenID, _ outcome: FrozenOutcome) {
    finished.append(id)
    CrashFiles.say("TERM \(id.number)")
  }

  func didBecomeDeadLetter(_ id: FrozenID, _ letter: DeadLetter) {
    inFlight.removeAll { $0 == id }
    dead.append(id)
    CrashFiles.say("DEAD \(id.number)")
  }

  func didPostpone(_ id: FrozenID, _ record: FrozenRecord) {}

  func didNotLaunch(_ id: FrozenID) {}
  func didFail(_ failure: NetworkError) { fail("\(failure)") }
}
#endif
