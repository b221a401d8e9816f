/// A direction of a connection through the proxy: keeps what has come in and says what to do next. It does no
/// I/O and reads no clock.
struct FaultPipe {
  enum Action {
    case write([UInt8], Range<Int>)
    /// Nothing until then; nil: nothing until something comes in.
    case wait(ContinuousClock.Instant?)
    /// The direction has ended, and all of it is through.
    case end
    case close
    case reset
  }

  private struct Piece {
    let bytes: [UInt8]
    var sent = 0
    let due: ContinuousClock.Instant
  }

  /// More than this is not kept: the source waits, as it would for a slow network.
  private static let keptBytesMax = 262_144

  var mix: ToxicMix
  private let began: ContinuousClock.Instant
  private var dice: SeededDice
  private var pieces: ArraySlice<Piece> = []
  private var keptBytes = 0
  private var passedBytes = 0
  private var opensAt: ContinuousClock.Instant?
  private var sourceEnded: ContinuousClock.Instant?
  private(set) var didEnd = false

  init(mix: ToxicMix, began: ContinuousClock.Instant, dice: SeededDice) {
    self.mix = mix
    self.began = began
    self.dice = dice
  }

  var sawEnd: Bool { sourceEnded != nil }
  var isStalled: Bool { mix.stall != nil }
  var wantsInput: Bool { !sawEnd && keptBytes < Self.keptBytesMax }

  mutating func take(_ bytes: [UInt8], _ now: ContinuousClock.Instant) {
    // Never before the piece ahead of it: jitter may delay bytes, TCP does not reorder them.
    let due = max(now + mix.latency(&dice), pieces.last?.due ?? now)
    pieces.append(Piece(bytes: bytes, due: due))
    keptBytes += bytes.count
  }

  mutating func takeEnd(_ now: ContinuousClock.Instant) { sourceEnded = now + mix.latency(&dice) }

  /// The next action. A `write` is to be followed by ``didWrite(_:_:)`` before the next question.
  mutating func next(_ now: ContinuousClock.Instant) -> Action {
    let start = max(began, mix.since)
    if let stall = mix.stall {
      guard case .closing(let after) = stall else { return .wait(nil) }
      return now >= start + after ? .close : .wait(start + after)
    }
    if let after = mix.resetsAfter, now >= start + after { return .reset }
    if let bytes = mix.resetsAtByte, passedBytes >= bytes { return .reset }
    if let limit = mix.limit, passedBytes >= limit { return .close }
    let action = flow(now)
    guard case .wait(let until) = action, let after = mix.resetsAfter else { return action }
    return .wait(min(until ?? start + after, start + after))
  }

  private mutating func flow(_ now: ContinuousClock.Instant) -> Action {
    guard let piece = pieces.first else { return flowEnd(now) }
    if piece.due > now { return .wait(piece.due) }
    if let opensAt, opensAt > now { return .wait(opensAt) }
    let most = [mix.limit, mix.resetsAtByte].compactMap(\.self).min().map { $0 - passedBytes } ?? .max
    let count = min(mix.slice(of: piece.bytes.count - piece.sent, &dice), most)
    return .write(piece.bytes, piece.sent..<piece.sent + count)
  }

  private mutating func flowEnd(_ now: ContinuousClock.Instant) -> Action {
    guard !didEnd, let sourceEnded else { return .wait(nil) }
    let due = sourceEnded + mix.closeDelay
    guard now >= due else { return .wait(due) }
    didEnd = true
    return .end
  }

  mutating func didWrite(_ count: Int, _ now: ContinuousClock.Instant) {
    passedBytes += count
    keptBytes -= count
    let first = pieces.startIndex
    pieces[first].sent += count
    if pieces[first].sent == pieces[first].bytes.count { pieces.removeFirst() }
    let pause = mix.pause(after: count)
    guard pause > .zero else { return }
    // From when it was due, unless that is long ago: else each turn of the loop would slow the pace a little.
    let base = opensAt.map { now - $0 < .milliseconds(20) ? $0 : now } ?? now
    opensAt = base + pause
  }
}

/// A connection through the proxy: two sockets and a pipe each way. Lives on the proxy's thread.
final class FaultLink {
  private enum Phase {
    case open
    /// Both sides have got their end; what they still send is read and dropped.
    case lingering(until: ContinuousClock.Instant)
    case closed
  }

  /// Writes in one go, before the other connections have their turn.
  private static let writesMax = 64
  private static let lingerTime = Duration.seconds(1)

  let number: Int
  /// The client's socket and the origin's, which are where `.downstream` and `.upstream` lead.
  private let client: Int32
  private let origin: Int32
  private var upstream: FaultPipe
  private var downstream: FaultPipe
  private var phase = Phase.open
  /// Which directions wait for room to write.
  private var blocked: Set<FaultProxy.Direction> = []
  private(set) var wakeAt: ContinuousClock.Instant?

  /// Takes both sockets over.
  init(
    number: Int, client: Int32, origin: Int32, toxics: FaultBook, seed: UInt64, now: ContinuousClock.Instant
  ) {
    self.number = number
    self.client = client
    self.origin = origin
    func pipe(_ direction: FaultProxy.Direction) -> FaultPipe {
      FaultPipe(
        mix: toxics.mix(direction, connection: number, seed: seed), began: now,
        dice: SeededDice(seed: seed &+ direction.seed, stream: UInt64(number)))
    }
    upstream = pipe(.upstream)
    downstream = pipe(.downstream)
  }

  var isClosed: Bool { if case .closed = phase { true } else { false } }
  private var isOpen: Bool { if case .open = phase { true } else { false } }

  func use(_ toxics: FaultBook, seed: UInt64) {
    upstream.mix = toxics.mix(.upstream, connection: number, seed: seed)
    downstream.mix = toxics.mix(.downstream, connection: number, seed: seed)
  }

  /// The events to poll the client's and the origin's socket for: reading what the one pipe takes, writing
  /// what the other gives.
  var interests: [(fd: Int32, reads: Bool, writes: Bool)] {
    let drops = !isOpen
    return [
      (client, drops ? !upstream.sawEnd : upstream.wantsInput, blocked.contains(.downstream)),
      (origin, drops ? !downstream.sawEnd : downstream.wantsInput, blocked.contains(.upstream)),
    ]
  }

  /// The source of this direction has something to read, or has ended or failed.
  func didBecomeReadable(
    _ direction: FaultProxy.Direction, _ buffer: inout [UInt8], _ now: ContinuousClock.Instant
  ) {
    guard !isClosed else { return }
    switch Socket.receive(direction == .upstream ? client : origin, into: &buffer) {
    case .bytes(let count): if isOpen { change(direction) { $0.take(Array(buffer[..<count]), now) } }
    case .end: change(direction) { $0.takeEnd(now) }
    case .wouldBlock: break
    case .failed: finish(Socket.reset)
    }
  }

  /// Does what is due.
  func advance(_ now: ContinuousClock.Instant, _ passed: (FaultProxy.Direction, Int) -> Void) {
    wakeAt = nil
    blocked = []
    // Nobody would ever find out that the client has gone.
    if isOpen, upstream.sawEnd, upstream.isStalled || downstream.isStalled { beginLingering(now) }
    for direction in FaultProxy.Direction.allCases where isOpen { pump(direction, now, passed) }
    if isOpen, upstream.didEnd, downstream.didEnd { finish(Socket.finish) }
    if case .lingering(let until) = phase { linger(until, now) }
  }

  private func pump(
    _ direction: FaultProxy.Direction, _ now: ContinuousClock.Instant,
    _ passed: (FaultProxy.Direction, Int) -> Void
  ) {
    for _ in 0..<Self.writesMax {
      switch change(direction, { $0.next(now) }) {
      case .write(let bytes, let range):
        guard let count = write(bytes, range, direction) else { return }
        change(direction) { $0.didWrite(count, now) }
        passed(direction, count)
      case .wait(let until): return wake(at: until)
      case .end: return Socket.endSending(sink(direction))
      case .close: return beginLingering(now)
      case .reset: return finish(Socket.reset)
      }
    }
    wake(at: now)
  }

  /// The number of bytes that went out; nil when none did.
  private func write(_ bytes: [UInt8], _ range: Range<Int>, _ direction: FaultProxy.Direction) -> Int? {
    switch Socket.send(sink(direction), bytes, range) {
    case .bytes(let count): return count
    case .wouldBlock, .end: blocked.insert(direction)
    case .failed: finish(Socket.reset)
    }
    return nil
  }

  private func sink(_ direction: FaultProxy.Direction) -> Int32 { direction == .upstream ? origin : client }

  @discardableResult
  private func change<T>(_ direction: FaultProxy.Direction, _ body: (inout FaultPipe) -> T) -> T {
    direction == .upstream ? body(&upstream) : body(&downstream)
  }

  private func wake(at time: ContinuousClock.Instant?) {
    if let time { wakeAt = min(wakeAt ?? time, time) }
  }

  /// Not closed at once: unread input would turn the end into a reset.
  private func beginLingering(_ now: ContinuousClock.Instant) {
    Socket.endSending(client)
    Socket.endSending(origin)
    phase = .lingering(until: now + Self.lingerTime)
  }

  private func linger(_ until: ContinuousClock.Instant, _ now: ContinuousClock.Instant) {
    if now >= until || (upstream.sawEnd && downstream.sawEnd) {
      finish(Socket.finish)
    } else {
      wake(at: until)
    }
  }

  /// The one place where the descriptors go.
  func finish(_ close: (Int32) -> Void) {
    guard !isClosed else { return }
    phase = .closed
    close(client)
    close(origin)
  }
}
