internal import Synchronization

/// What an operation sends: the request that it was made with, or what has become of it. Nearly all stay as they were, and
/// are lent from there: a copy has references to count, and the loop asks for it a dozen times.
extension NetworkOperation {
  /// Another request in place of the first.
  final class Change: Sendable {
    let request: NetworkRequest
    /// The request as it was asked for, once the other has been made ready for sending.
    let asked: NetworkRequest?

    init(_ request: NetworkRequest, asked: NetworkRequest?) {
      self.request = request
      self.asked = asked
    }
  }

  /// The request as it was asked for, before its engine has prepared it.
  var asked: NetworkRequest { shared.withLock { $0.changed.map { $0.asked ?? $0.request } } ?? original }

  /// Loop thread: the request as it is sent.
  var sent: NetworkRequest { loop.change?.request ?? original }

  /// Its URL, or the one that redirects have led it to.
  var whereItIs: String {
    guard let history = loop.history, history.redirects != nil else { return request.url }
    return history.target.url
  }

  var sentPriority: NetworkRequest.Priority { loop.change?.request.priority ?? original.priority }

  /// Lends it.
  @inline(__always)
  func withSent<Result, Failure>(
    _ body: (NetworkRequest) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if let change = loop.change { return try body(change.request) }
    return try body(original)
  }

  /// Loop thread: sending it twice changes nothing.
  var mayRepeat: Bool { (loop.history?.target.method ?? sent.method).isSafe && sent.prepared.canReplay }

  /// Loop thread: what others have made of the request so far counts from now on.
  func takeChange() { loop.change = shared.withLock { $0.changed } }

  /// Changes the request; false once it has been enqueued.
  @discardableResult
  func edit(_ change: (inout NetworkRequest) -> Void) -> Bool {
    shared.withLock { shared in
      guard shared.state == .ready else { return false }
      shared.change(original, change)
      return true
    }
  }

  /// Loop thread: the part that its body goes on with when it breaks off; nil for one that it shares, and where others watch the
  /// body, which are opened once.
  var partToGoOnWith: PartFile? {
    guard loop.hasStreams, loop.waitersLeft == 0 else { return nil }
    let streams = shared.withLock { $0.rare.streams }
    return streams.count == 1 ? streams[0].part : nil
  }

  /// Loop thread: asks for what its part says from now on, also where a redirect has led.
  func becomeRest(_ rest: NetworkRequest) {
    shared.withLock { shared in
      shared.change(original) { request in
        (request.headers, request.extra.resumes) = (rest.headers, rest.isForRest)
      }
    }
    takeChange()
    for name in ["Range", "If-Range", "Accept-Encoding"] {
      loop.history?.target.headers.remove(name)
      if let value = rest.headers.first(name) { loop.history?.target.headers.set(name, value) }
    }
  }

  /// Making it ready leaves most requests as they are.
  func staysAsIs(_ request: borrowing NetworkRequest) -> Bool {
    !request.hasExtras && !request.isFreezable && engine.configuration.prepare == nil
  }

  /// Any thread: counts at once for what is cancelled by it, and for what is stored from then on.
  func changeTag(to tag: String?) {
    let isUnderWay = shared.withLock { shared in
      guard (shared.changed?.request ?? original).tag != tag else { return false }
      shared.change(original) { $0.tag = tag }
      return shared.state != .ready && shared.outcome == nil
    }
    if isUnderWay { perform { [self] _ in takeChange() } }
  }

  /// Any thread: its priority as it may have been changed, without a copy of the request.
  var priorityByNow: NetworkRequest.Priority {
    shared.withLock { [original] in $0.changed?.request.priority ?? original.priority }
  }

  /// Any thread: counts while it waits as well, and for whatever it does next.
  func changePriority(to priority: NetworkRequest.Priority) {
    let isUnderWay = shared.withLock { shared in
      shared.change(original) { $0.priority = priority }
      return shared.state != .ready && shared.outcome == nil
    }
    if isUnderWay { perform { [self] in $0.reprioritise(self) } }
    engine.followUps.changePriority(of: self, to: priority)
  }
}

extension NetworkOperation.Shared {
  mutating func change(
    _ original: NetworkRequest, asked: NetworkRequest? = nil, _ change: (inout NetworkRequest) -> Void
  ) {
    var request = changed?.request ?? original
    change(&request)
    changed = NetworkOperation.Change(request, asked: asked ?? changed?.asked)
  }
}
