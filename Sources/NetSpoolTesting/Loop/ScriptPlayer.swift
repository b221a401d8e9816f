/// Sends an answer step by step, as far as the socket, the pace and the gates let it.
struct ScriptPlayer {
  enum Progress {
    case finished
    /// The socket takes no more now.
    case blocked
    /// Enough for one turn; others wait.
    case yielded
    case until(ContinuousClock.Instant)
    case waitingAt(String)
    case stalled
    case reset
    case close
    case failed
  }

  /// Bytes sent before other connections get their turn. A stream of HTTP/2 makes a head of every fifty of them.
  private static let turnBytesMax = 65_536

  private let steps: [WirePart.Step]
  private var index = 0
  private var offset = 0
  private var pace: Pace?
  private var slice = 0
  private var due: ContinuousClock.Instant?
  /// Taken before the first byte is sent: a client that has read up to the stall can release it, whether or
  /// not this thread has come to the stall itself.
  private let releaseCount: Int

  init(_ steps: [WirePart.Step], releaseCount: Int) {
    self.steps = steps
    self.releaseCount = releaseCount
  }

  mutating func play(_ wire: any Wire, _ state: OriginState, now: ContinuousClock.Instant) -> Progress {
    var now = now
    if let due {
      guard now >= due else { return .until(due) }
      self.due = nil
      // A clock that was moved far has passed what comes behind this as well.
      if state.clock != nil { now = due }
    }
    var budget = Self.turnBytesMax
    while index < steps.count {
      switch steps[index] {
      case .run(let run):
        if let stop = send(run, wire, &budget, now) { return stop }
      case .act(.pause(let time)):
        index += 1
        due = now + time
        return .until(now + time)
      case .act(.gate(let name)):
        guard state.pass(name) else { return .waitingAt(name) }
        index += 1
      case .act(.stall):
        guard state.releaseCount != releaseCount else { return .stalled }
        index += 1
      case .pace(let pace):
        self.pace = pace
        slice = pace?.size ?? 0
        index += 1
      case .act(.reset): return .reset
      case .act(.close): return .close
      }
    }
    return .finished
  }

  /// Sends of one run; nil when it is through or was sent in part and can go on.
  private mutating func send(
    _ run: ByteRun, _ wire: any Wire, _ budget: inout Int, _ now: ContinuousClock.Instant
  ) -> Progress? {
    guard offset < run.count else {
      offset = 0
      index += 1
      return nil
    }
    guard budget > 0 else { return .yielded }
    let range = run.range(at: offset, atMost: pace == nil ? 1 << 20 : slice)
    switch wire.send(run.block, range) {
    case .bytes(let count): return didSend(count, of: run, &budget, now)
    case .wouldBlock: return .blocked
    case .end, .failed: return .failed
    }
  }

  private mutating func didSend(
    _ count: Int, of run: ByteRun, _ budget: inout Int, _ now: ContinuousClock.Instant
  ) -> Progress? {
    offset += count
    // An endless run never gets near its end.
    if run.count == .max { offset %= run.block.count }
    budget -= count
    guard let pace else { return nil }
    slice -= count
    guard slice == 0 else { return nil }
    slice = pace.size
    due = now + pace.interval
    return .until(now + pace.interval)
  }
}

/// A request that is being read or answered.
struct Exchange {
  let head: RequestHead
  let path: String
  let index: Int
  var reader: BodyReader
  /// Chosen when only the head was there.
  var early: Answer?
  /// The fault inside the body, until it has happened.
  var bodyFault: (after: Int, action: FaultAction)?
  /// Answered already: what is left of the body is only read.
  var isAnswered = false
  /// Its place among all, once it has been recorded.
  var number = 0

  init(head: RequestHead, index: Int) {
    self.head = head
    self.index = index
    path = head.path
    reader = BodyReader(head.framing)
  }
}
