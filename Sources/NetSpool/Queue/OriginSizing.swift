/// The width of an origin: transfer events in, a limit out. Origins never share one, so none resizes another.
///
/// Times are microseconds of any clock that does not go back. An event costs a few comparisons and no
/// allocation.
struct OriginSizing: Sendable {
  /// What happened to a transfer of the origin. Every `started` is followed by exactly one of `finished`,
  /// `failed`, `throttled` and `abandoned`, and at most one `answered` comes between. `since` is the time of
  /// the transfer's `started`: what began before the last narrowing says nothing about the new width.
  enum Event: Sendable {
    case started
    /// The head of a good answer came. `latency`: seconds from the request's last step before it was sent to
    /// the head, so that neither connecting nor the body's size counts.
    case answered(latency: Double, since: Int64)
    /// The answer is whole.
    case finished(Transport)
    /// No usable answer: connection failures, timeouts, 5xx but 503.
    case failed(since: Int64)
    /// The origin said it is too much: 429 or 503. `retryAfter` in seconds.
    case throttled(retryAfter: Double?, since: Int64)
    /// Ended by our side; says nothing about the origin.
    case abandoned
    /// The origin asked for quiet, where other transfers than these heard of it.
    case silenced(until: Int64)
  }

  /// How an answer travelled.
  struct Transport: Sendable {
    /// The bytes of the body.
    var bytes: Int64
    /// The time from the head to the body's last byte.
    var seconds: Double
    /// A connection had to be opened for it.
    var isConnectionNew: Bool
  }

  /// May be changed at any time.
  var sizing: NetworkQueue.Sizing
  /// May be changed at any time. Default `.local`.
  var link: NetworkQueue.Sizing.Link
  private var adaptive: AdaptiveWidth

  /// - Parameter maximum: the most that `.adaptive` allows; default 64.
  init(_ sizing: NetworkQueue.Sizing = .adaptive, maximum: Int = 64, link: NetworkQueue.Sizing.Link = .local)
  {
    self.sizing = sizing
    self.link = link
    adaptive = AdaptiveWidth(maximum: maximum)
  }

  /// The most that `.adaptive` allows.
  var maximum: Int {
    get { adaptive.maximum }
    set { adaptive.maximum = newValue }
  }

  /// True if events change the limit.
  var isAdaptive: Bool { sizing == .adaptive }

  mutating func apply(_ event: Event, now: Int64) { adaptive.apply(event, now: now) }

  /// How many may run now; 0 until the time of `holdUntil`. Ask again after every event.
  func limit(at now: Int64) -> Int {
    switch sizing {
    case .fixed(let width): width
    case .byLink(let local, let cellular): link == .local ? local : cellular
    case .adaptive: now < adaptive.holdUntil ? 0 : adaptive.width
    }
  }

  /// True if a refusal makes fewer requests of it: not where they come by chance, and where the width is not its own.
  var heedsRefusals: Bool { isAdaptive && !adaptive.trial.isByChance }

  /// The time between two starts, where they are spread; nil where they are not.
  var startInterval: Int64? { isAdaptive ? adaptive.pace?.interval : nil }

  /// Nothing new may start before this time, because the origin asked for it or allows so many in a time; nil
  /// when it did not, or the sizing is not `.adaptive`. Ask for the limit again then.
  var holdUntil: Int64? { isAdaptive && adaptive.holdUntil > .min ? adaptive.holdUntil : nil }
}

/// When an origin was held because it had asked for quiet. Times are microseconds of any clock that does not go back.
struct HeldTime: Sendable {
  /// The last ones; older are forgotten.
  private var holds: [(begin: Int64, end: Int64)] = []
  private var begun: Int64?

  private static var holdsMax: Int { 64 }

  mutating func begin(_ now: Int64) { if begun == nil { begun = now } }

  mutating func end(_ now: Int64) {
    guard let begin = begun else { return }
    begun = nil
    if holds.count == Self.holdsMax { holds.removeFirst() }
    holds.append((begin, now))
  }

  /// How much of the time since then it was held.
  func since(_ time: Int64, now: Int64) -> Int64 {
    let current = begun.map { max(0, now - max($0, time)) } ?? 0
    return holds.reduce(current) { $0 + max(0, $1.end - max($1.begin, time)) }
  }
}
