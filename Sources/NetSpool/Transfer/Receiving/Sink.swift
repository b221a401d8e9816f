/// One destination of a response body. Lives on the loop thread; must not block it.
///
/// Calls come in this order: `open` once, `write` any number of times, then `finish` once, whatever
/// happened. A sink that `open` never reached gets no `finish`.
protocol Sink: AnyObject {
  /// The head has arrived and its body is wanted. `ready` may be kept and called, on the loop thread
  /// only, whenever bytes that were not taken could be offered again or a pending finish has ended.
  func open(_ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void) throws(SinkFailure)

  /// Takes some or all of the bytes and answers how many. Fewer than offered: the rest is kept by the
  /// fan-out and offered again after `ready`, and the transfer is paused when too much is kept.
  func write(_ bytes: RawSpan) throws(SinkFailure) -> Int

  /// The body is complete (`failure` nil: publish) or never will be (abandon). Answers `.pending` while
  /// work goes on elsewhere; `ready` is then called and `finish` is asked again.
  func finish(_ failure: NetworkError?) throws(SinkFailure) -> SinkProgress

  /// What became of it; asked after the finish.
  var report: NetworkResponse.StreamReport { get }
}

enum SinkProgress: Sendable { case done, pending }

/// A sink could not go on: the error number, and what it was doing.
struct SinkFailure: Error, Sendable {
  var errno: Int32?
  var reason: String
  /// What a user's own stream threw.
  var thrown: (any Error)?

  init(errno: Int32? = nil, reason: String, thrown: (any Error)? = nil) {
    self.errno = errno
    self.reason = reason
    self.thrown = thrown
  }
}
