/// One origin's width: transfer events in, a limit out. Origins never share one, so none resizes another.
///
/// Times are microseconds of any clock that does not go back.
package struct OriginSizing: Sendable {
  /// What happened to a transfer of the origin. Every `started` is followed by exactly one of the others.
  package enum Event: Sendable {
    case started
    /// Answered. `latency`: seconds from the start to the answer's first byte, so that its size does not
    /// count; `bytes`: of the body.
    case finished(latency: Double, bytes: Int64)
    /// No usable answer: connection failures, timeouts, 5xx without Retry-After.
    case failed
    /// The origin said it is too much: 429, or 503 with Retry-After. `retryAfter` in seconds.
    case throttled(retryAfter: Double?)
    /// Ended by our side; says nothing about the origin.
    case abandoned
  }

  /// May be changed at any time.
  package var sizing: QueueSizing
  /// May be changed at any time. Default `.local`.
  package var link: QueueSizing.Link
  private var adaptive: AdaptiveWidth

  /// - Parameter maximum: the most that `.adaptive` allows; default 64.
  package init(_ sizing: QueueSizing = .adaptive, maximum: Int = 64, link: QueueSizing.Link = .local) {
    self.sizing = sizing
    self.link = link
    adaptive = AdaptiveWidth(maximum: maximum)
  }

  /// The most that `.adaptive` allows.
  package var maximum: Int {
    get { adaptive.maximum }
    set { adaptive.maximum = newValue }
  }

  package mutating func apply(_ event: Event, now: Int64) {
    adaptive.apply(event, now: now)
  }

  /// How many may run now; 0 until the time of `holdUntil`.
  package func limit(at now: Int64) -> Int {
    switch sizing {
    case .fixed(let width): width
    case .byLink(let local, let cellular): link == .local ? local : cellular
    case .adaptive: adaptive.isHeld(at: now) ? 0 : adaptive.width
    }
  }

  /// Nothing new may start before this time, because the origin asked for it; nil when it did not, or the
  /// sizing is not `.adaptive`. Ask for the limit again then.
  package var holdUntil: Int64? { sizing == .adaptive ? adaptive.holdUntil : nil }
}
