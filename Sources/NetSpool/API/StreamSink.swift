/// A user's stream as the core's sink.
final class StreamSink: Sink {
  private let stream: any DownloadStream
  private let services: SinkServices
  private var ready: () -> Void = {}
  private var isWaiting = false
  private var digest: SHA256?
  private(set) var report = NetworkResponse.StreamReport()

  init(_ stream: any DownloadStream, services: SinkServices) {
    self.stream = stream
    self.services = services
    digest = stream.wantsDigest ? SHA256() : nil
  }

  func open(
    _ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void
  ) throws(SinkFailure) {
    self.ready = ready
    do {
      try stream.open(head, bytesExpected: bytesExpected)
    } catch {
      throw SinkFailure(reason: "open threw \(error)", thrown: error)
    }
  }

  func write(_ bytes: RawSpan) throws(SinkFailure) -> Int {
    do {
      let taken = min(max(0, try stream.write(bytes).taken ?? bytes.byteCount), bytes.byteCount)
      report.bytes += Int64(taken)
      digest?.update(bytes.extracting(..<taken))
      if taken < bytes.byteCount { askAgain() }
      return taken
    } catch {
      throw SinkFailure(reason: "write threw \(error)", thrown: error)
    }
  }

  /// Nobody tells when the stream can take more, so it is asked again soon.
  private func askAgain() {
    guard !isWaiting else { return }
    isWaiting = true
    services.after(10) { [weak self] in
      self?.isWaiting = false
      self?.ready()
    }
  }

  func finish(_ failure: NetworkError?) -> SinkProgress {
    if failure == nil { report.digest = digest?.finish() }
    stream.close(failure.map { .failure($0) } ?? .success(()))
    return .done
  }
}

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
