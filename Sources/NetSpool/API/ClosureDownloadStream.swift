/// A body piece by piece into a closure, in order, on the loop thread. The closure must not block.
public final class ClosureDownloadStream: DownloadStream {
  private let onBytes: @Sendable (RawSpan) throws -> WriteResult
  private let onClose: (@Sendable (Result<Void, NetworkError>) -> Void)?

  /// - Parameters:
  ///   - onClose: called exactly once, at the end.
  ///   - onBytes: gets each piece, borrowed for the call; throwing fails the stream.
  public init(
    onClose: (@Sendable (Result<Void, NetworkError>) -> Void)? = nil,
    onBytes: @escaping @Sendable (RawSpan) throws -> WriteResult
  ) {
    self.onBytes = onBytes
    self.onClose = onClose
  }

  /// Does nothing.
  public func open(_ head: ResponseHead, bytesExpected: Int64?) {}
  /// Hands the bytes to the closure.
  public func write(_ bytes: RawSpan) throws -> WriteResult { try onBytes(bytes) }
  /// Tells the closure.
  public func close(_ outcome: Result<Void, NetworkError>) { onClose?(outcome) }
}
