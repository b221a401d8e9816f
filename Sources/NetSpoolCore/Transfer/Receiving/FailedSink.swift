/// Stands in for a sink that could not be made: it fails when it is opened, as any other would.
package final class FailedSink: Sink {
  private let failure: SinkFailure
  package let report = SinkReport()

  package init(_ failure: SinkFailure) { self.failure = failure }

  package func open(
    _ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void
  ) throws(SinkFailure) { throw failure }

  package func write(_ bytes: RawSpan) throws(SinkFailure) -> Int { throw failure }
  package func finish(_ failure: Failure?) -> SinkProgress { .done }
}
