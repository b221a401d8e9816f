/// The toxics of one direction of one connection, added up.
struct ToxicMix {
  enum Stall {
    case closing(after: Duration)
    case endless
  }

  struct Slicer {
    let bytes: Int
    let variation: Int
    let pause: Duration
  }

  /// When they were set.
  let since: ContinuousClock.Instant
  var latencies: [(time: Duration, jitter: Duration)] = []
  var bytesPerSecond: Int?
  var closeDelay = Duration.zero
  var stall: Stall?
  var resetsAfter: Duration?
  var resetsAtByte: Int?
  var slicer: Slicer?
  var limit: Int?

  /// Throws the dice for those that hit only some connections.
  init(_ toxics: [Toxic], since: ContinuousClock.Instant, dice: inout SeededDice) {
    self.since = since
    for toxic in toxics where dice.chance(toxic.percent) { add(toxic.kind) }
  }

  /// Of two of the same kind the harsher counts; latencies and delays add up.
  private mutating func add(_ kind: Toxic.Kind) {
    switch kind {
    case .latency(let time, let jitter): latencies.append((time, jitter))
    case .bandwidth(let rate): bytesPerSecond = min(bytesPerSecond ?? .max, rate)
    case .slowClose(let time): closeDelay += time
    case .timeout(let time): stall = time.map { .closing(after: $0) } ?? stall ?? .endless
    case .reset(let time): resetsAfter = min(resetsAfter ?? time, time)
    case .resetAt(let count): resetsAtByte = min(resetsAtByte ?? .max, count)
    case .slicer(let bytes, let variation, let pause):
      slicer = Slicer(bytes: bytes, variation: variation, pause: pause)
    case .limitData(let count): limit = min(limit ?? .max, count)
    }
  }

  /// How long the next piece of data is kept.
  func latency(_ dice: inout SeededDice) -> Duration {
    latencies.reduce(.zero) { $0 + dice.around($1.time, $1.jitter) }
  }

  /// How many of `count` bytes go into the next write.
  func slice(of count: Int, _ dice: inout SeededDice) -> Int {
    var most = count
    if let slicer {
      let reach = slicer.variation
      most = min(most, max(1, slicer.bytes + Int.random(in: -reach...reach, using: &dice)))
    }
    // A hundred writes a second: smooth enough for a client's meter, and few enough for the loop.
    if let bytesPerSecond { most = min(most, max(1, bytesPerSecond / 100)) }
    return most
  }

  /// How long to wait after a write of `count` bytes.
  func pause(after count: Int) -> Duration {
    let pace = bytesPerSecond.map { Duration.seconds(1) * count / $0 } ?? .zero
    return max(pace, slicer?.pause ?? .zero)
  }
}
