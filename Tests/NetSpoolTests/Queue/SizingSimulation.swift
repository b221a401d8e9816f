import Glibc

@testable import NetSpool
@testable import TestSupport

/// Runs one origin against one sizing, in virtual time.
struct SizingSimulation {
  enum Load: Sendable {
    /// There is always work.
    case closed
    /// So many requests a second arrive at random, whether others have ended or not.
    case open(Double)
  }

  private struct Transfer {
    var arrived: Int64
    var since: Int64
    var kind: SimulatedServer.Kind
    var headAt: Int64 = 0
    var bytes: Int64 = 0
  }

  var server: SimulatedServer
  var sizing: OriginSizing
  var load: Load
  private var generator: SplitMix64
  private(set) var now: Int64 = 0
  private(set) var running = 0

  /// Seconds from arrival, or start, to the end of each good answer, and when it ended.
  private(set) var latencies: [(end: Int64, seconds: Double)] = []
  private(set) var refusals: [Int64] = []
  private(set) var runningMax = 0
  private(set) var startedWhileHeld = 0
  private(set) var connectionsOpened = 0

  /// Latest first, so that the next one is the last; a new one is mostly among the latest.
  private var heads: [(time: Int64, transfer: Transfer)] = []
  private var bodies: [(virtual: Double, transfer: Transfer)] = []
  /// Bytes that each body on the link has got since the beginning.
  private var virtual = 0.0
  private var virtualTime: Int64 = 0
  private var waiting: [Int64] = []
  private var firstWaiting = 0
  private var nextArrival: Int64 = 0

  init(
    _ origin: SimulatedOrigin, _ sizing: OriginSizing = OriginSizing(), load: Load = .closed, seed: UInt64 = 1
  ) {
    server = SimulatedServer(origin, seed: seed)
    self.sizing = sizing
    self.load = load
    generator = SplitMix64(seed: seed &* 31 &+ 7)
  }

  /// Arrived and not answered.
  var backlog: Int { waiting.count - firstWaiting + running }
  var limit: Int { sizing.limit(at: now) }
  var answers: Int { latencies.count }
  var seconds: Double { Double(now) / 1e6 }

  /// Runs on for so long, or until so many good answers.
  mutating func run(seconds: Double, answersMax: Int = .max) {
    let end = now + Int64(seconds * 1_000_000)
    while now < end, answers < answersMax {
      arrive()
      while running < limit, hasWork { start() }
      advance(until: end)
    }
  }

  // MARK: Load

  private var hasWork: Bool { if case .closed = load { true } else { firstWaiting < waiting.count } }

  private mutating func arrive() {
    guard case .open(let rate) = load else { return }
    while nextArrival <= now {
      waiting.append(nextArrival)
      nextArrival += Int64(max(1, -1e6 / rate * log(1 - generator.unit())))
    }
  }

  private mutating func start() {
    var arrived = now
    if case .open = load {
      arrived = waiting[firstWaiting]
      firstWaiting += 1
    }
    if let hold = sizing.holdUntil, now < hold { startedWhileHeld += 1 }
    sizing.apply(.started, now: now)
    running += 1
    runningMax = max(runningMax, running)
    let answer = server.ask(now)
    call(Transfer(arrived: arrived, since: now, kind: answer.kind), at: answer.time)
  }

  /// Its head, or the end of a body that shares nothing, comes at that time.
  private mutating func call(_ transfer: Transfer, at time: Int64) {
    heads.insert((time, transfer), at: heads.firstIndex { $0.time <= time } ?? heads.count)
  }

  // MARK: Time

  private mutating func advance(until end: Int64) {
    var next = min(end, heads.last?.time ?? .max, linkTime)
    if case .open = load { next = min(next, nextArrival) }
    // Timers count milliseconds.
    if let hold = sizing.holdUntil, hold > now {
      next = min(next, now + (hold - now) / 1_000 * 1_000 + 1_000)
    }
    moveLink(to: next)
    now = next
    if let head = heads.last, head.time <= now {
      heads.removeLast()
      didAnswer(head.transfer)
    } else if let body = bodies.last, body.virtual <= virtual + 1e-6 {
      bodies.removeLast()
      didFinish(body.transfer)
    }
  }

  private mutating func didAnswer(_ transfer: Transfer) {
    var transfer = transfer
    switch transfer.kind {
    case .failed: end(transfer, .failed(since: transfer.since))
    case .refused, .refusedByChance:
      refusals.append(now)
      end(transfer, .throttled(retryAfter: server.origin.retryAfter, since: transfer.since))
    case .good where transfer.headAt > 0: didFinish(transfer)
    case .good:
      sizing.apply(.answered(latency: Double(now - transfer.since) / 1e6, since: transfer.since), now: now)
      (transfer.headAt, transfer.bytes) = (now, server.bodyBytes())
      if server.origin.bodyBytesPerSecond > 0 { return call(transfer, at: now + server.bodyTime()) }
      guard server.origin.linkBytesPerSecond > 0 else { return didFinish(transfer) }
      let finish = virtual + Double(transfer.bytes)
      let place = bodies.firstIndex { $0.virtual <= finish } ?? bodies.count
      bodies.insert((finish, transfer), at: place)
    }
  }

  private mutating func didFinish(_ transfer: Transfer) {
    latencies.append((now, Double(now - transfer.arrived) / 1e6))
    let isNew = server.origin.closesConnections || running > connectionsOpened
    if isNew { connectionsOpened += 1 }
    let seconds = Double(now - transfer.headAt) / 1e6
    end(transfer, .finished(.init(bytes: transfer.bytes, seconds: seconds, isConnectionNew: isNew)))
  }

  private mutating func end(_ transfer: Transfer, _ event: OriginSizing.Event) {
    running -= 1
    server.didEnd(transfer.kind, now)
    sizing.apply(event, now: now)
  }

  // MARK: The link

  private var linkTime: Int64 {
    guard let body = bodies.last else { return .max }
    let left = max(0, body.virtual - virtual) * Double(bodies.count) / server.origin.linkBytesPerSecond
    return virtualTime + Int64((left * 1e6).rounded(.up))
  }

  private mutating func moveLink(to time: Int64) {
    if !bodies.isEmpty {
      virtual += Double(time - virtualTime) / 1e6 * server.origin.linkBytesPerSecond / Double(bodies.count)
    }
    virtualTime = time
  }
}

extension SizingSimulation {
  /// Good answers per second after this time.
  func rate(after begin: Double = 0) -> Double {
    Double(latencies.count { Double($0.end) / 1e6 >= begin }) / max(seconds - begin, 1e-6)
  }

  /// Good answers per second in the next seconds, behind those in which it looks around.
  mutating func rate(ofNext seconds: Double, after warmup: Double) -> Double {
    run(seconds: warmup)
    let begin = self.seconds
    run(seconds: seconds)
    return rate(after: begin)
  }

  /// Seconds within which 99 of 100 ended, of those that ended after this time.
  func p99(after begin: Double = 0) -> Double {
    let sorted = latencies.filter { Double($0.end) / 1e6 >= begin }.map(\.seconds).sorted()
    return sorted.isEmpty ? .infinity : sorted[min(sorted.count - 1, sorted.count * 99 / 100)]
  }

  /// Refusals in a hundred requests after this time.
  func refusedPercent(after begin: Double = 0) -> Double {
    let refused = refusals.count { Double($0) / 1e6 >= begin }
    let good = latencies.count { Double($0.end) / 1e6 >= begin }
    return 100 * Double(refused) / Double(max(1, refused + good))
  }
}
