/// A fault that a ``FaultProxy`` adds to one direction of a connection. Several of them add up.
///
/// The names are those that Toxiproxy has made common; its eighth, "down", is ``FaultProxy/stop()``.
public struct Toxic: Sendable, Hashable, CustomStringConvertible {
  enum Kind: Sendable, Hashable {
    case latency(Duration, jitter: Duration)
    case bandwidth(bytesPerSecond: Int)
    case slowClose(Duration)
    case timeout(Duration?)
    case reset(after: Duration)
    case resetAt(bytes: Int)
    case slicer(bytes: Int, variation: Int, pause: Duration)
    case limitData(bytes: Int)
  }

  let kind: Kind
  private(set) var percent = 100

  /// Keeps every piece of data for this long, more or less by a random time up to `jitter`. The order stays.
  public static func latency(_ time: Duration, jitter: Duration = .zero) -> Toxic {
    Toxic(kind: .latency(time, jitter: jitter))
  }

  /// Lets so many bytes through in a second, at least one.
  public static func bandwidth(bytesPerSecond: Int) -> Toxic {
    Toxic(kind: .bandwidth(bytesPerSecond: max(bytesPerSecond, 1)))
  }

  /// Passes the end of the direction on only after this time.
  public static func slowClose(_ time: Duration) -> Toxic { Toxic(kind: .slowClose(time)) }

  /// Lets nothing through, not even the end, and closes the connection after this time; with nil it never does. What
  /// has come meanwhile goes on when the toxic is taken away. A client that ends its side ends the connection. The
  /// time counts from the connection's beginning or from when the toxics were set.
  public static func timeout(_ time: Duration?) -> Toxic { Toxic(kind: .timeout(time)) }

  /// Resets the connection, on both sides, after this time. It counts from the connection's beginning or from
  /// when the toxics were set.
  public static func reset(after time: Duration = .zero) -> Toxic { Toxic(kind: .reset(after: time)) }

  /// Resets the connection when so many bytes have gone through this direction since its beginning.
  public static func reset(atByte count: Int) -> Toxic { Toxic(kind: .resetAt(bytes: max(count, 0))) }

  /// Sends slices of `bytes` bytes, more or less by a random number up to `variation`, each a write of its own, and
  /// pauses between them.
  public static func slicer(bytes: Int, variation: Int = 0, pause: Duration = .zero) -> Toxic {
    Toxic(kind: .slicer(bytes: max(bytes, 1), variation: max(variation, 0), pause: pause))
  }

  /// Closes the connection when so many bytes have gone through this direction since its beginning.
  public static func limitData(bytes: Int) -> Toxic { Toxic(kind: .limitData(bytes: max(bytes, 0))) }

  /// The same for so many of a hundred connections only. Which ones, the proxy's seed says.
  public func hitting(percent: Int) -> Toxic { changed(self) { $0.percent = percent } }

  /// The toxic in a few words, for the names of tests.
  public var description: String { percent == 100 ? "\(kind)" : "\(kind) at \(percent) %" }
}

/// The toxics of one direction of one connection, added up.
struct ToxicMix {
  enum Stall {
    case closing(after: Duration)
    case endless
  }

  /// When they were set.
  let since: ContinuousClock.Instant
  var latencies: [(time: Duration, jitter: Duration)] = []
  var bytesPerSecond: Int?
  var closeDelay = Duration.zero
  var stall: Stall?
  var resetsAfter: Duration?
  var resetsAtByte: Int?
  var slicer: (bytes: Int, variation: Int, pause: Duration)?
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
    case .slicer(let bytes, let variation, let pause): slicer = (bytes, variation, pause)
    case .limitData(let count): limit = min(limit ?? .max, count)
    }
  }

  /// The time for which the next piece of data is kept.
  func latency(_ dice: inout SeededDice) -> Duration {
    latencies.reduce(.zero) { $0 + dice.around($1.time, $1.jitter) }
  }

  /// The part of `count` bytes that goes into the next write.
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

  /// The time to wait after a write of `count` bytes.
  func pause(after count: Int) -> Duration {
    let pace = bytesPerSecond.map { Duration.seconds(1) * count / $0 } ?? .zero
    return max(pace, slicer?.pause ?? .zero)
  }
}

/// SplitMix64: the same throws for the same seed, everywhere.
struct SeededDice: RandomNumberGenerator {
  private var state: UInt64

  /// Independent throws for each number under one seed.
  init(seed: UInt64, stream: UInt64) {
    state = seed
    state = next() ^ (stream &* 0x9E37_79B9_7F4A_7C15)
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// True so many times in a hundred.
  mutating func chance(_ percent: Int) -> Bool { Int(next() % 100) < percent }

  /// Somewhere from `middle - spread` to `middle + spread`, to the microsecond, and never below zero.
  mutating func around(_ middle: Duration, _ spread: Duration) -> Duration {
    guard spread > .zero else { return middle }
    let reach = Int64(spread / .microseconds(1))
    return max(.zero, middle + .microseconds(Int64.random(in: -reach...reach, using: &self)))
  }
}
