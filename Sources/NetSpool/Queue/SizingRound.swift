/// The evidence of one round: about one width of answers.
struct SizingRound: Sendable {
  var answers = 0
  var failures = 0
  var latencySum = 0.0
  var latencyMin = Double.infinity
  /// The limit was reached: more would have been asked for.
  var isSaturated = false
  /// Bodies that took longer than their heads, and the sum of how quick each was, where 1 is as quick as they have been.
  var longBodies = 0
  var quickness = 0.0
  var finished = 0
  var newConnections = 0

  mutating func take(latency: Double) {
    answers += 1
    latencySum += latency
    latencyMin = min(latencyMin, latency)
  }

  mutating func take(_ transport: OriginSizing.Transport, stretch: Double?) {
    finished += 1
    if transport.isConnectionNew { newConnections += 1 }
    guard let stretch else { return }
    longBodies += 1
    quickness += 1 / stretch
  }

  /// True for a body that took longer than the heads.
  func isLong(_ transport: OriginSizing.Transport) -> Bool {
    transport.seconds > latencySum / Double(max(answers, 1))
  }

  /// The bodies take more time than the answers' beginnings, and this many times more than they need, in the middle: a full
  /// link slows all of them, and a few that are slow by themselves hardly count.
  var stretch: Double { longBodies * 2 > finished ? Double(longBodies) / quickness : 1 }

  /// The origin closes its connections, so that each answer costs a new one.
  var isChurning: Bool { newConnections * 2 > finished }
}

/// The quickest that an origin has been in the last one to two minutes: old enough to reach back before a queue
/// formed, young enough to notice that the route or the origin has changed.
struct SizingBaseline: Sendable {
  private static var spanMicroseconds: Int64 { 60_000_000 }

  /// The least of one span.
  private struct Span: Sendable {
    var latency = Double.infinity
    /// Seconds per byte, by size.
    var pace = InlineArray<5, Double>(repeating: .infinity)
  }

  /// Bodies of about one size in a row: one alone may come from a cache, and tells nothing of the others.
  private struct Row: Sendable {
    private var count = 0
    private var sum = 0.0

    /// Returns the mean of the row with its last body.
    mutating func take(_ pace: Double, length: Int) -> Double? {
      count += 1
      sum += pace
      guard count >= length else { return nil }
      defer { self = Row() }
      return sum / Double(count)
    }
  }

  private var current = Span()
  private var previous = Span()
  private var rows = InlineArray<5, Row>(repeating: Row())
  private var spanEnd = Int64.min

  /// Seconds; infinite before the first answer.
  var latency: Double { min(current.latency, previous.latency) }

  /// True when a minute has passed and a new one begins with this answer.
  mutating func take(latency: Double, _ now: Int64) -> Bool {
    let isFirst = spanEnd == .min
    let isOver = now >= spanEnd
    if isOver {
      previous = current
      current = Span()
      spanEnd = now + Self.spanMicroseconds
    }
    current.latency = min(current.latency, latency)
    return isOver && !isFirst
  }

  /// What is asked now never takes less.
  mutating func begin(with latency: Double) { (current.latency, previous.latency) = (latency, .infinity) }

  /// Some bodies were long enough to tell of a link.
  var hasPace: Bool {
    current.pace.indices.contains { min(current.pace[$0], previous.pace[$0]) < .infinity }
  }

  /// As slow as bodies are now, they are by themselves.
  mutating func slow(by stretch: Double) {
    for size in current.pace.indices {
      current.pace[size] = min(current.pace[size], previous.pace[size]) * stretch
      previous.pace[size] = .infinity
    }
  }

  /// How many times longer this body took, per byte, than the quickest row of about its size; nil when it is too short to
  /// tell, and before there is one. Sizes are told apart in steps of four, as short bodies never reach the speed of long ones.
  /// - Parameter width: the mean of few bodies varies more than that of the many of a wide round, so a row is half as long.
  mutating func stretch(of body: OriginSizing.Transport, width: Int) -> Double? {
    guard body.bytes >= 65_536, body.seconds > 0 else { return nil }
    let size = min(4, (Int64.bitWidth - 1 - body.bytes.leadingZeroBitCount - 16) / 2)
    let pace = body.seconds / Double(body.bytes)
    if let mean = rows[size].take(pace, length: max(8, width / 2)) {
      current.pace[size] = min(current.pace[size], mean)
    }
    let quickest = min(current.pace[size], previous.pace[size])
    return quickest < .infinity ? pace / quickest : nil
  }
}

/// Good answers per second, over the last one to two seconds.
struct Goodput: Sendable {
  private static var spanMicroseconds: Int64 { 1_000_000 }

  private var current = 0
  private var previous = 0
  private var spanBegin = Int64.min
  /// In one span, at most; of what is long past, less and less counts.
  private var most = 0.0

  mutating func didAnswer(_ now: Int64) {
    turn(now)
    current += 1
  }

  /// While the origin is held there are none, and that says nothing of how quick it is.
  mutating func didHold(_ microseconds: Int64, _ now: Int64) {
    turn(now)
    spanBegin += microseconds
  }

  /// Microseconds between two answers; nil when there were too few to tell.
  mutating func interval(_ now: Int64) -> Int64? {
    turn(now)
    let answers = current + previous
    guard answers >= 3 else { return nil }
    let elapsed = now - spanBegin + (previous > 0 ? Self.spanMicroseconds : 0)
    return max(1, elapsed / Int64(answers))
  }

  /// Clearly less is asked than what the origin has given before; nil when it has not given much.
  /// - Parameter interval: between two starts, where they are spread; elsewhere so many are asked as are answered.
  func isEased(by interval: Int64?, _ now: Int64) -> Bool? {
    guard most >= 4, spanBegin > .min else { return nil }
    if let interval { return Double(Self.spanMicroseconds) / Double(interval) <= most * 0.75 }
    let elapsed = max(1, now - spanBegin + (previous > 0 ? Self.spanMicroseconds : 0))
    return Double((current + previous) * Int(Self.spanMicroseconds)) / Double(elapsed) <= most * 0.75
  }

  /// Microseconds between starts by which less than a sixteenth of what the origin has given is asked: too few to learn from.
  var longestInterval: Int64 { most >= 4 ? Int64(16 * Double(Self.spanMicroseconds) / most) : .max }

  private mutating func turn(_ now: Int64) {
    guard spanBegin > .min else { return spanBegin = now }
    let age = now - spanBegin
    guard age >= Self.spanMicroseconds else { return }
    most = max(Double(current), most * 63 / 64)
    let isNext = age < 2 * Self.spanMicroseconds
    (previous, current) = (isNext ? current : 0, 0)
    spanBegin = isNext ? spanBegin + Self.spanMicroseconds : now
  }
}

/// The time of a good answer from one refusal to the next, with all that was waited between them: an origin that counts
/// requests in a time gives no more than that, however quickly they are asked.
struct GivenBetweenRefusals: Sendable {
  /// Without the time in which nothing was asked.
  private var time: Int64 = 0
  private var passedAt = Int64.min
  private var begin: Int64?
  private var answers = 0
  /// The last times, in microseconds; 0 for those that were not measured.
  private var last = InlineArray<3, Int64>(repeating: 0)
  /// The last refusal came with a wish for quiet.
  private var isHeld = false

  /// The shortest of them, since one alone may be that of an outage.
  var shortest: Int64 { min(last[0], min(last[1], last[2])) }

  /// More quickly than that, an origin refuses as often because it is asked too quickly. Where it asks for quiet, one
  /// refusal takes so long that the first time counts.
  var least: Int64 { isHeld ? last[0] : shortest }

  /// - Parameter end: until then something ran, or nothing might.
  mutating func pass(to now: Int64, until end: Int64) {
    if passedAt > .min { time += max(passedAt, min(now, end)) - passedAt }
    passedAt = now
  }

  mutating func didAnswer() { answers += 1 }

  mutating func didRefuse(isHeld: Bool) {
    self.isHeld = isHeld
    if begin != nil, answers == 0 { return }
    if let begin { last = [(time - begin) / Int64(answers), last[0], last[1]] }
    (begin, answers) = (time, 0)
  }
}
