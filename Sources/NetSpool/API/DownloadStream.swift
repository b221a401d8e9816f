/// A destination of a response body. Give an operation as many as you like: they cost one network read.
///
/// All calls come on the loop thread, in order: `open` when a head of status 200...299 has arrived, `write`
/// for every piece, `close` exactly once, whatever happened (also if `open` was never reached, or threw).
/// None may block: all of the queue waits for it.
public protocol DownloadStream: Sendable {
  /// Whether the report of this stream gets the SHA-256 of its bytes; true unless said otherwise. Costs 0.7 s
  /// of CPU per GiB, on the loop thread.
  var wantsDigest: Bool { get }

  /// The body is about to come. `bytesExpected` is nil when the length is not known.
  func open(_ head: ResponseHead, bytesExpected: Int64?) throws

  /// The next bytes, borrowed for the call. `.pause` takes none of them: the same bytes are offered again.
  func write(_ bytes: RawSpan) throws -> WriteResult

  /// The body is whole, or never will be. Exactly once.
  func close(_ outcome: Result<Void, NetworkError>)
}

extension DownloadStream {
  /// True unless said otherwise.
  public var wantsDigest: Bool { true }
}

/// What a stream did with the bytes it was offered.
public struct WriteResult: Sendable, Hashable {
  /// Nil: all.
  var taken: Int?

  /// It took them all.
  public static let accepted = WriteResult(taken: nil)
  /// It took none: it is offered the same bytes again in 10 ms. Meanwhile up to 1 MiB is kept for it; then
  /// the transfer pauses, and no other with it.
  public static let pause = WriteResult(taken: 0)
  /// It took this many from the front; the rest is offered again in 10 ms.
  public static func took(_ count: Int) -> WriteResult { WriteResult(taken: count) }
}

/// What to do when one of several streams fails.
public enum StreamFailurePolicy: Sendable, Hashable {
  /// The operation ends with `.sinkFailed`; the default.
  case failOperation
  /// The stream is dropped and the others go on; the response's `streams` say so. When none is left, the operation ends
  /// with `.sinkFailed`.
  case dropStream
}
