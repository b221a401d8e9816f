/// Good answers per second, over the last one to two seconds.
struct Goodput: Sendable {
  private static var spanMicroseconds: Int64 { 1_000_000 }

  private var current = 0
  private var previous = 0
  private var spanBegin = Int64.min

  mutating func didAnswer(_ now: Int64) {
    turn(now)
    current += 1
  }

  /// Microseconds between two answers; nil when there were too few to tell.
  mutating func interval(_ now: Int64) -> Int64? {
    turn(now)
    let answers = current + previous
    guard answers >= 3 else { return nil }
    let elapsed = now - spanBegin + (previous > 0 ? Self.spanMicroseconds : 0)
    return max(1, elapsed / Int64(answers))
  }

  private mutating func turn(_ now: Int64) {
    guard spanBegin > .min else { return spanBegin = now }
    let age = now - spanBegin
    guard age >= Self.spanMicroseconds else { return }
    let isNext = age < 2 * Self.spanMicroseconds
    (previous, current) = (isNext ? current : 0, 0)
    spanBegin = isNext ? spanBegin + Self.spanMicroseconds : now
  }
}
