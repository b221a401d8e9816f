/// A body into a file: written beside the target and renamed to it when it is whole, so a failed body is never
/// published and an old file is replaced in one step. Writing happens off the loop thread.
///
/// With `append` the bytes go behind an existing file, which is cut back to its old length on failure.
/// Errors: `.sinkFailed` with the errno in `underlying` (missing directory, no permission, disk full).
public final class FileDownloadStream: DownloadStream, CoreStream {
  /// The target, as given.
  public let path: String
  private let placement: FileWriter.Placement
  private let digests: Bool
  private let writer: SharedFileWriter

  /// - Parameters:
  ///   - path: the target; its directory must exist.
  ///   - append: behind an existing file instead of replacing it; false by default.
  ///   - digests: whether the report gets the SHA-256 of the bytes; true by default; 0.7 s of CPU per GiB.
  public init(path: String, append: Bool = false, digests: Bool = true) {
    self.path = path
    placement = append ? .append : .replace
    self.digests = digests
    writer = SharedFileWriter(path: path, placement: placement)
  }

  func makeSink(_ services: SinkServices) throws(SinkFailure) -> any Sink {
    try FileSink(
      path: path, placement: placement, digests: digests, worker: services.worker, pool: services.buffers,
      device: services.devices.device(of: path))
  }

  /// For streams that wrap this one; blocks on the disk.
  public func open(_ head: ResponseHead, bytesExpected: Int64?) throws {
    do throws(SinkFailure) { try writer.open(bytesExpected: bytesExpected) } catch {
      throw error.networkError
    }
  }

  /// For streams that wrap this one; blocks on the disk.
  public func write(_ bytes: RawSpan) throws -> WriteResult {
    do throws(SinkFailure) { try writer.write(bytes) } catch { throw error.networkError }
    return .accepted
  }

  /// For streams that wrap this one; publishes or removes the file.
  public func close(_ outcome: Result<Void, NetworkError>) {
    if case .success = outcome {
      try? writer.close(publishing: true)
    } else {
      try? writer.close(publishing: false)
    }
  }
}
