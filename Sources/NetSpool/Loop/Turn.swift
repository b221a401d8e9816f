/// The time that a loop works before it looks at its sockets again. What has much to do does it in pieces, and asks here,
/// where alone the clock is read for it, whether others want their turn.
struct Turn {
  /// The length of a turn, in microseconds. A call into libcurl may hand out bytes for as long.
  static let length: Microseconds = 4_000
  /// So much is done before the clock is read.
  static let piece = 8

  private let end: Microseconds
  private var done = 0

  init(from now: Microseconds = MonotonicClock.now) { self.init(until: now + Self.length) }

  private init(until end: Microseconds) { self.end = end }

  /// A turn without an end: all is done.
  static var endless: Turn { Turn(until: .max) }

  /// The rest of this turn, and a quarter of one however long the others took.
  func rest(from now: Microseconds) -> Turn { Turn(until: max(end, now + Self.length / 4)) }

  /// So much of a turn: a half, a quarter.
  static func part(_ share: Microseconds, from now: Microseconds = MonotonicClock.now) -> Turn {
    Turn(until: now + length / share)
  }

  /// A quarter of it, but for one without an end.
  func shortened() -> Turn { end == .max ? self : .part(4) }

  /// True when so much has been done since that the clock was read, and the time is over.
  mutating func isOver(after count: Int = 1) -> Bool {
    done += count
    guard done >= Self.piece else { return false }
    done = 0
    return isOver(at: MonotonicClock.now)
  }

  func isOver(at now: Microseconds) -> Bool { now >= end }
}
