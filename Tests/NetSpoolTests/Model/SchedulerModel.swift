import Glibc
import Synchronization

#if !MODEL_PROGRAM
@testable import NetSpool
@testable import TestSupport
#endif

/// The whole scheduler, on a model's time and with a wire on which nothing but the model's random numbers decide: what it is
/// asked for, what origins answer, in pieces as small as they like, and when. Everything between the public face and
/// libcurl is the product's own.
///
/// A schedule is a few operations and what happens to them until all have ended. Afterwards nobody may hold anything: each
/// operation has got one final event, and every count of the scheduler is back where it was. One scheduler lives through
/// many schedules, so that what one leaves behind would meet the next.
final class SchedulerModel {
  /// What a schedule must not leave behind, and the number that finds it again.
  struct Fault: Error, CustomStringConvertible {
    let seed: UInt64
    let what: String
    var description: String { "schedule \(seed): \(what)" }
  }

  let timeline = Timeline()
  let driver: QueueDriver
  let queue: NetworkQueue
  let scheduler: Scheduler
  let wire: ModelWire
  private let engines: [NetworkEngine]
  private var freezing: ModelFreezing?
  private var random = SplitMix64(seed: 0)
  private var seed: UInt64 = 0
  private(set) var operationsRun = 0
  /// How often each kind of thing has happened so far, to see that it does; statuses and the codes of errors are among them.
  private(set) var happened: [String: Int] = [:]

  /// - Parameters:
  ///   - cache: a directory for the second engine's cache; nil: it has none.
  ///   - frozen: one for the first engine's frozen requests.
  init(cache: String?, frozen: String?) throws {
    var settings = NetworkQueue.Configuration()
    settings.loops = .fixed(1)  // it is this thread's
    queue = try NetworkQueue(configuration: settings)
    driver = queue.driver
    scheduler = try driver.runHere(in: timeline)
    scheduler.seats.rooms.streamsMax = 1
    wire = ModelWire()
    scheduler.starter.pools.common.wire = wire
    var configuration = NetworkEngine.Configuration()
    configuration.queue = queue
    configuration.delivery = .loopThread
    configuration.originPauseMax = .seconds(5)
    // Silence ends soon, because each tick of it is a step of the model.
    configuration.timeouts = .init(connect: .seconds(1), headers: .seconds(1), stall: .seconds(1))
    engines = try [NetworkEngine(configuration: configuration), NetworkEngine(configuration: configuration)]
    if let cache {
      let timeline = ModelTime(timeline)
      try engines[1].useCache(CacheConfiguration(directory: cache), now: { timeline.milliseconds })
    }
    freezing = try frozen.map { try ModelFreezing(engines[0], directory: $0) }
    turn()
  }

  /// Ends the scheduler, which must leave nothing open. Answers how many handles it did.
  func close() -> Int {
    engines[1].closeCache()
    driver.perform { $0.close() }
    scheduler.loop.run()
    timeline.end()
    return scheduler.loop.finish()
  }

  // MARK: A schedule

  /// Lives through the schedule of a number. Throws what it left behind.
  func run(_ seed: UInt64) throws(Fault) {
    self.seed = seed
    try live()
    // Its operations are gone, and with them the answers that were lent a spool's file. The store's threads end in real
    // time, so not after each schedule.
    if seed % 16 == 0 { try checkCache() }
  }

  private func live() throws(Fault) {
    random = SplitMix64(seed: seed)
    wire.random = SplitMix64(seed: seed, stream: 1)
    scheduler.successors.repetition.random = SplitMix64(seed: seed, stream: 2)
    configure()
    let ledger = Ledger()
    var all: [NetworkOperation] = []
    var waiting = makeOperations(&all, ledger)
    var steps = 12 + random.below(40)
    while steps > 0 || !waiting.isEmpty {
      steps -= 1
      step(all, &waiting)
      turn()
    }
    try end(all, ledger)
    try check(all, ledger)
    operationsRun += all.count
  }

  private func configure() {
    let before = queue.configuration
    var settings = before
    settings.sizing = random.chance(50) ? .fixed(1 + random.below(4)) : .adaptive
    settings.maximumConcurrent = 1 + random.below(6)
    settings.maximumPerOrigin = 1 + random.below(8)
    _ = driver.apply(settings, over: before)
  }

  /// Some are copies of others, so that they share; some wait for others; some stream.
  private func makeOperations(_ all: inout [NetworkOperation], _ ledger: Ledger) -> [NetworkOperation] {
    var waiting: [NetworkOperation] = []
    let streamed = random.chance(50) ? 60 : 5
    let freezes = freezing != nil && random.chance(10)
    for number in 0..<(1 + random.below(7)) {
      let engine = engines[random.below(2)]
      let operation = engine.operation(url: ModelWire.url(random.below(6)))
      operation.configure { request in
        if random.chance(15) { request.method = .post }
        if random.chance(20) { request.coalesces = false }
        if random.chance(30) { request.retry = .attempts(1 + random.below(3)) }
        if random.chance(30) { request.timeouts = limits() }
        if random.chance(30) {
          request.priority = NetworkRequest.Priority.allCases[random.below(4)]
        }
      }
      let isFrozen = freezes && engine === engines[0] && random.chance(50)
      if isFrozen { operation.configure { ($0.method, $0.isFreezable) = (.post, true) } }
      let streams = !isFrozen && random.chance(streamed)
      if streams { addStreams(to: operation) }
      if number > 0, random.chance(15) { operation.addDependency(all[random.below(number)]) }
      ledger.watch(operation, number)
      if streams { happened["streamed", default: 0] += 1 }
      all.append(operation)
      waiting.append(operation)
    }
    return waiting
  }

  private func addStreams(to operation: NetworkOperation) {
    let seed = random.next()
    if random.chance(60) { operation.addDownloadStream(ModelStream(seed: seed)) }
    guard random.chance(60) else { return }
    operation.attach(
      StreamAttachment(isEssential: true, close: { _ in }) { services in
        ModelSink(seed: seed) { services.context.timers.after(milliseconds: $0, $1) }
      })
  }

  private func limits() -> NetworkRequest.Timeouts {
    var limits = NetworkRequest.Timeouts(
      headers: .milliseconds(50 + random.below(3_000)), stall: .milliseconds(50 + random.below(3_000)))
    if random.chance(50) { limits.total = .milliseconds(1 + random.below(6_000)) }
    if random.chance(20) { limits.queueDeadline = .milliseconds(random.below(2_000)) }
    return limits
  }

  private func step(_ all: [NetworkOperation], _ waiting: inout [NetworkOperation]) {
    let one = all[random.below(all.count)]
    switch random.below(20) {
    case 0..<5: if let next = waiting.popLast() { next.engine.enqueue(next) }
    case 5: one.cancel()
    case 6: one.pause()
    case 7: one.resume()
    case 8: one.priority = NetworkRequest.Priority.allCases[random.below(4)]
    case 9: _ = timeline.advance(by: Microseconds(random.below(500_000)))
    case 10: _ = timeline.advance()
    default: wire.step()
    }
    note(one)
  }

  private func note(_ operation: NetworkOperation) {
    switch operation.loop.phase {
    case .sharing: happened["joined", default: 0] += 1
    case .paused: happened["paused", default: 0] += 1
    case .waiting(.others): happened["blocked", default: 0] += 1
    case .waiting(.until(let wait)): if case .room = wait.reason { happened["parked", default: 0] += 1 }
    case .frozen: happened["frozen", default: 0] += 1
    case .running:
      if operation.loop.transfer?.exchange.hasYielded ?? false { happened["held", default: 0] += 1 }
    default: break
    }
  }

  /// Nobody is paused any more, and time passes until all have ended.
  private func end(_ all: [NetworkOperation], _ ledger: Ledger) throws(Fault) {
    var rounds = 0
    let limit = ContinuousClock.now + .patience
    while ledger.count < all.count || wire.hasWork || !timeline.isEmpty {
      rounds += 1
      if ContinuousClock.now > limit {
        let left = all.indices.filter { ledger.endings($0) == 0 }
        throw fault("\(left.map { all[$0].loop.phase }) never end")
      }
      // The disk has threads of its own, and they real time.
      if rounds > 2_000 { usleep(500) }
      for operation in all {
        if case .paused = operation.loop.phase { operation.resume() }
        if operation.loop.isHeld { operation.resume() }
        if case .frozen = operation.loop.phase { letFrozenEnd(operation, rounds) }
      }
      if !wire.step() || rounds % 64 == 0 { _ = timeline.advance() }
      turn()
    }
    if all.contains(where: \.isFreezable) { try endFreezing() }
  }

  /// A frozen request may wait for seconds of real time: those who do so give up.
  private func letFrozenEnd(_ operation: NetworkOperation, _ rounds: Int) {
    if rounds > 50 { usleep(20) }
    if rounds % 200 == 0 { operation.cancel() }
  }

  /// Nothing is left in the store, and nothing of it on its way.
  private func endFreezing() throws(Fault) {
    guard let freezing else { return }
    let limit = ContinuousClock.now + .patience
    repeat {
      let stillness = freezing.awaitStill()
      while !stillness.isThere.load(ordering: .acquiring) || wire.hasWork || !timeline.isEmpty {
        if ContinuousClock.now > limit { throw fault("the store is never still") }
        usleep(20)
        if !wire.step() { _ = timeline.advance() }
        turn()
      }
    } while wire.hasWork
    // What the freezer sent the loop before it was still.
    turn()
    if freezing.left != 0 { throw fault("\(freezing.left) frozen requests are left") }
    freezing.forgetDead()
  }

  private func turn() { scheduler.loop.runOnce() }

  // MARK: What must be so at the end

  private func fault(_ what: String) -> Fault { Fault(seed: seed, what: what) }

  private func check(_ all: [NetworkOperation], _ ledger: Ledger) throws(Fault) {
    for number in all.indices where ledger.endings(number) != 1 {
      throw fault("operation \(number) has \(ledger.endings(number)) endings")
    }
    for operation in all {
      switch operation.loop.phase {
      // Those that were cancelled before, or answered by the cache at once, never came to the loop.
      case .ended, .ready: break
      default: throw fault("an operation is \(operation.loop.phase)")
      }
      count(operation)
    }
    let scheduler = scheduler
    let counts: [(String, Int)] = [
      ("operations", scheduler.operations.isEmpty ? 0 : 1), ("running", scheduler.seats.running.count),
      ("waiting", scheduler.context.queue.count), ("slots", scheduler.context.queue.running),
      ("unresolved", scheduler.context.queue.unresolvedRunning),
      ("rooms", scheduler.seats.rooms.isEmpty ? 0 : 1),
      ("starved", scheduler.seats.starved), ("lent", scheduler.seats.lent),
      ("shared", scheduler.coalescer.isEmpty ? 0 : 1),
      (
        "dependencies",
        NetworkOperation.dependencies.withLock { graph in all.flatMap { graph.remove($0.id) }.count }
      ),
      ("timers", scheduler.timers.count), ("wire", wire.count),
      ("deferred", scheduler.context.deferred.count),
      ("paused transfers", scheduler.starter.pools.common.pausedTransfers),
      ("pending", driver.pending.load(ordering: .relaxed)),
      ("undelivered", driver.counts[.undelivered]),
      ("waiting for pauses", driver.waitingForPauses.load(ordering: .relaxed)),
      ("pauses", queue.budgets.originPauses.held), ("places", queue.budgets.places.held),
      ("waiting for places", queue.budgets.places.waiting),
    ]
    for (name, count) in counts where count != 0 { throw fault("\(name): \(count)") }
    for engine in engines {
      let budgets = engine.budgets
      for budget in [budgets.deliveries, budgets.streams, budgets.names]
      where budget.held != 0 || budget.waiting != 0 { throw fault("\(budget)") }
      if engine.seats.waiting != 0 || engine.seats.running != 0 { throw fault("a place") }
    }
    for origin in scheduler.origins.all where scheduler.context.queue.running(at: origin.id) != 0 {
      throw fault("a slot of \(origin.text)")
    }
  }

  private func checkCache() throws(Fault) {
    func isFree(_ budget: NetworkBudget?) -> Bool { budget.map { $0.held == 0 && $0.waiting == 0 } ?? true }
    let limit = ContinuousClock.now + .patience
    while true {
      let budgets = engines[1].budgets
      if isFree(budgets.cacheWrites), isFree(budgets.cacheSpools) { return }
      if ContinuousClock.now > limit { throw fault("\(budgets)") }
      usleep(100)
      turn()
    }
  }

  private func count(_ operation: NetworkOperation) {
    switch operation.outcome {
    case .success(let response):
      happened["completed", default: 0] += 1
      happened["\(response.status)", default: 0] += 1
      if response.metrics.redirects > 0 { happened["redirected", default: 0] += 1 }
      if response.metrics.attempts > 1 { happened["repeated", default: 0] += 1 }
      if response.source == .cache { happened["cached", default: 0] += 1 }
      if response.source == .revalidated { happened["revalidated", default: 0] += 1 }
    case .failure(let failure): happened["\(failure.code)", default: 0] += 1
    case .handedOver, nil: break
    }
  }
}

/// The final events of one schedule. All come on the model's thread.
private final class Ledger: @unchecked Sendable {
  // Safe because closures run on the loop's thread, which is the model's.
  private var counts = [Int](repeating: 0, count: 16)
  /// Operations that have ended.
  var count: Int { counts.count { $0 > 0 } }

  func watch(_ operation: NetworkOperation, _ number: Int) {
    operation.onCompletion { [self] _ in counts[number] += 1 }.onError { [self] _ in counts[number] += 1 }
  }

  func endings(_ number: Int) -> Int { counts[number] }
}

/// The model's time for rules of caches.
private final class ModelTime: @unchecked Sendable {
  // Safe because it is asked on the model's thread alone.
  private let timeline: Timeline
  init(_ timeline: Timeline) { self.timeline = timeline }
  var milliseconds: Int64 { 1_700_000_000_000 + timeline.now / 1000 }
}
