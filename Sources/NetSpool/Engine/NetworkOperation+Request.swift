internal import Synchronization

/// What an operation sends: the request that it was made with, or what has become of it. Nearly all stay as they were, and
/// are lent from there: a copy has references to count, and the loop asks for it a dozen times.
extension NetworkOperation {
  /// Another request in place of the first.
  final class Change: Sendable {
    let request: NetworkRequest

    init(_ request: NetworkRequest) { self.request = request }
  }

  /// Loop thread: the request as it is sent.
  var sent: NetworkRequest { loop.change?.request ?? original }

  var sentPriority: NetworkRequest.Priority { loop.change?.request.priority ?? original.priority }

  /// Lends it.
  @inline(__always)
  func withSent<Result, Failure>(
    _ body: (NetworkRequest) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if let change = loop.change { return try body(change.request) }
    return try body(original)
  }

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

  /// Making it ready leaves most requests as they are.
  func staysAsIs(_ request: borrowing NetworkRequest) -> Bool {
    !request.hasExtras && !request.isFreezable && engine.configuration.prepare == nil
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
  mutating func change(_ original: NetworkRequest, _ change: (inout NetworkRequest) -> Void) {
    var request = changed?.request ?? original
    change(&request)
    changed = NetworkOperation.Change(request)
  }
}
