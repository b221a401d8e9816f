import NetSpoolCore

/// An origin in virtual time, and a client that always has work for it.
struct SimulatedOrigin: Sendable, CustomStringConvertible {
  var description: String
  /// Mean seconds that one answer takes its worker.
  var serviceSeconds: Double
  /// How many answers are worked on at once; the others queue.
  var workers = Int.max
  /// More than so many at once are refused, after a millisecond.
  var inFlightMax = Int.max
  var retryAfter: Double?
  /// Percent of the answers that are failures.
  var failurePercent = 0

  /// Answers per second that the best width of at most 64 reaches.
  var bestRate: Double { Double(min(64, workers, inFlightMax)) / serviceSeconds }
}

/// Runs one origin against one sizing.
struct SizingSimulation {
  private struct Ending {
    var time: Int64
    var event: OriginSizing.Event
    var isAccepted: Bool
  }

  var origin: SimulatedOrigin
  var sizing: OriginSizing
  var generator: SplitMix64
  private(set) var now: Int64 = 0
  private(set) var answers = 0
  private(set) var refusals = 0
  private(set) var failures = 0
  private(set) var startedWhileHeld = 0
  /// Latest first, so that the next one is the last.
  private var endings: [Ending] = []
  /// When each busy worker is free again.
  private var busyUntil: [Int64] = []
  private var accepted = 0

  init(_ origin: SimulatedOrigin, _ sizing: OriginSizing = OriginSizing(), seed: UInt64 = 1) {
    self.origin = origin
    self.sizing = sizing
    generator = SplitMix64(seed: seed)
  }

  mutating func run(seconds: Double) {
    let end = now + Int64(seconds * 1_000_000)
    while now < end {
      while endings.count < sizing.limit(at: now) { start() }
      advance()
    }
  }

  private mutating func advance() {
    let wake = sizing.holdUntil.flatMap { $0 > now ? $0 : nil }
    guard let ending = endings.last, ending.time <= wake ?? .max else { return now = wake ?? .max }
    endings.removeLast()
    now = ending.time
    if ending.isAccepted { accepted -= 1 }
    switch ending.event {
    case .finished: answers += 1
    case .throttled: refusals += 1
    default: failures += 1
    }
    sizing.apply(ending.event, now: now)
  }

  private mutating func start() {
    if let hold = sizing.holdUntil, now < hold { startedWhileHeld += 1 }
    sizing.apply(.started, now: now)
    guard accepted < origin.inFlightMax else {
      return insert(
        Ending(time: now + 1_000, event: .throttled(retryAfter: origin.retryAfter), isAccepted: false))
    }
    accepted += 1
    let time = serve()
    let latency = Double(time - now) / 1_000_000
    let event: OriginSizing.Event =
      generator.chance(origin.failurePercent) ? .failed : .finished(latency: latency, bytes: 8_192)
    insert(Ending(time: time, event: event, isAccepted: true))
  }

  /// When the answer comes: as soon as a worker is free, after 0.8 to 1.2 times the mean.
  private mutating func serve() -> Int64 {
    let service = Int64(origin.serviceSeconds * (0.8 + 0.4 * generator.unit()) * 1_000_000)
    guard origin.workers < .max else { return now + service }
    busyUntil.removeAll { $0 <= now }
    busyUntil.sort()
    let begin = busyUntil.count < origin.workers ? now : busyUntil[busyUntil.count - origin.workers]
    busyUntil.append(begin + service)
    return begin + service
  }

  private mutating func insert(_ ending: Ending) {
    let place = endings.lastIndex { $0.time > ending.time }.map { $0 + 1 } ?? 0
    endings.insert(ending, at: place)
  }
}
