/// A body into an open descriptor: a pipe, a socket, a terminal, or a file at its position.
///
/// A full pipe or socket slows this transfer only: up to 1 MiB is kept, then the transfer pauses until there
/// is room. A reader that went away ends the operation with `.sinkFailed` (EPIPE); no signal is raised.
public final class DescriptorDownloadStream: DownloadStream, CoreStream {
  /// The descriptor, which stays the caller's and must stay open until the operation has ended.
  public let descriptor: Int32
  private let digests: Bool

  /// - Parameters:
  ///   - descriptor: open for writing, and the caller's to close.
  ///   - digests: whether the report gets the SHA-256 of the bytes; true by default.
  public init(_ descriptor: Int32, digests: Bool = true) {
    self.descriptor = descriptor
    self.digests = digests
  }

  func makeSink(_ services: SinkServices) -> any Sink {
    DescriptorSink(descriptor, .borrowed, digests: digests, waitUntilWritable: services.waitUntilWritable)
  }

  /// Does nothing.
  public func open(_ head: ResponseHead, bytesExpected: Int64?) {}

  /// For streams that wrap this one: blocks until all bytes are written.
  public func write(_ bytes: RawSpan) throws -> WriteResult {
    if let errno = FileDescriptor.writeAll(bytes, to: descriptor) {
      throw SinkFailure(errno: errno, reason: "could not write to descriptor \(descriptor)").networkError
    }
    return .accepted
  }

  /// Does nothing: the descriptor is the caller's.
  public func close(_ outcome: Result<Void, NetworkError>) {}
}
