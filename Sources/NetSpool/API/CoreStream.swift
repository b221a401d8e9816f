/// A stream of the kit, which the core drives without going through the public calls.
protocol CoreStream: DownloadStream {
  func makeSink(_ services: SinkServices) throws(SinkFailure) -> any Sink
}

extension StreamAttachment {
  /// What an operation keeps of a stream until its transfer starts.
  init(_ stream: any DownloadStream, policy: StreamFailurePolicy) {
    self.init(
      isEssential: policy == .failOperation, close: { stream.close(.failure($0)) }
    ) { services in
      guard let own = stream as? any CoreStream else { return StreamSink(stream, services: services) }
      do throws(SinkFailure) {
        return try own.makeSink(services)
      } catch {
        return FailedSink(error)
      }
    }
  }
}

extension SinkFailure {
  /// As an error for who calls a stream by hand.
  var networkError: NetworkError {
    (NetworkError(.sinkFailed, reason: reason, underlying: errno.map { .errno($0) }))
  }
}
