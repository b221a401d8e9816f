/// One direction of a connection through the proxy: keeps what has come in and says what to do next. It does no
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
  /// Those before `first` are sent already.
  private var pieces: [Piece] = []
  private var first = 0
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
    let due = max(now + mix.latency(&dice), first < pieces.count ? pieces[pieces.count - 1].due : now)
    pieces.append(Piece(bytes: bytes, due: due))
    keptBytes += bytes.count
  }

  mutating func takeEnd(_ now: ContinuousClock.Instant) { sourceEnded = now + mix.latency(&dice) }

  /// What to do now. A `write` is to be followed by ``didWrite(_:_:)`` before the next question.
  mutating func next(_ now: ContinuousClock.Instant) -> Action {
    let start = max(began, mix.since)
    if let stall = mix.stall { return stalled(stall, start, now) }
    if let after = mix.resetsAfter, now >= start + after { return .reset }
    if let bytes = mix.resetsAtByte, passedBytes >= bytes { return .reset }
    if let limit = mix.limit, passedBytes >= limit { return .close }
    let action = flow(now)
    guard case .wait(let until) = action, let after = mix.resetsAfter else { return action }
    return .wait(min(until ?? start + after, start + after))
  }

  private func stalled(
    _ stall: ToxicMix.Stall, _ start: ContinuousClock.Instant, _ now: ContinuousClock.Instant
  )
    -> Action
  {
    guard case .closing(let after) = stall else { return .wait(nil) }
    return now >= start + after ? .close : .wait(start + after)
  }

  private mutating func flow(_ now: ContinuousClock.Instant) -> Action {
    guard first < pieces.count else { return flowEnd(now) }
    let piece = pieces[first]
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
    pieces[first].sent += count
    if pieces[first].sent == pieces[first].bytes.count { dropFirst() }
    let pause = mix.pause(after: count)
    guard pause > .zero else { return }
    // From when it was due, unless that is long ago: else each turn of the loop would slow the pace a little.
    let base = opensAt.map { now - $0 < .milliseconds(20) ? $0 : now } ?? now
    opensAt = base + pause
  }

  private mutating func dropFirst() {
    first += 1
    guard first == pieces.count || first >= 1_024 else { return }
    pieces.removeFirst(first)
    first = 0
  }
}
