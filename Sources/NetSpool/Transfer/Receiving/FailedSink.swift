/// Stands in for a sink that could not be made: it fails when it is opened, as any other would.
final class FailedSink: Sink {
  private let failure: SinkFailure
  let report = NetworkResponse.StreamReport()

  init(_ failure: SinkFailure) { self.failure = failure }

  func open(
    _ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void
  ) throws(SinkFailure) { throw failure }

  func write(_ bytes: RawSpan) throws(SinkFailure) -> Int { throw failure }
  func finish(_ failure: NetworkError?) -> SinkProgress { .done }
}
