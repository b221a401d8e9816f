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

  func open(_ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void) throws(SinkFailure) {
    self.ready = ready
    let (port, me) = (services.context.port, LoopReference(self))
    stream.willOpen { port.perform { _ in me.object?.wake() } }
    do { try stream.open(head, bytesExpected: bytesExpected) } catch {
      throw SinkFailure(reason: "open threw \(error)", thrown: error)
    }
  }

  func write(_ bytes: RawSpan) throws(SinkFailure) -> Int {
    do {
      let taken = min(max(0, try stream.write(bytes).taken ?? bytes.byteCount), bytes.byteCount)
      report.bytes += Int64(taken)
      digest?.update(bytes.extracting(..<taken))
      if taken < bytes.byteCount { askAgain(afterMilliseconds: taken > 0 ? 0 : 10) }
      return taken
    } catch { throw SinkFailure(reason: "write threw \(error)", thrown: error) }
  }

  /// A stream need not tell when it can take more, so it is asked again soon.
  private func askAgain(afterMilliseconds milliseconds: UInt64) {
    guard !isWaiting else { return }
    isWaiting = true
    services.context.timers.after(milliseconds: milliseconds) { [weak self] in self?.wake() }
  }

  /// The stream can take more, or may.
  func wake() {
    guard isWaiting else { return }
    isWaiting = false
    ready()
  }

  func finish(_ failure: NetworkError?) -> SinkProgress {
    if failure == nil { report.digest = digest?.finish() }
    stream.close(failure.map { .failure($0) } ?? .success(()))
    return .done
  }
}

/// Counts a body, and keeps nothing of it but perhaps its digest.
final class DiscardSink: Sink {
  private var digest: SHA256?
  private(set) var report = NetworkResponse.StreamReport()

  init(_ digest: SHA256?) { self.digest = digest }

  func open(_ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void) {}

  func write(_ bytes: RawSpan) -> Int {
    report.bytes += Int64(bytes.byteCount)
    digest?.update(bytes)
    return bytes.byteCount
  }

  func finish(_ failure: NetworkError?) -> SinkProgress {
    if failure == nil { report.digest = digest?.finish() }
    return .done
  }
}

/// A stream of the kit, which the core drives without going through the public calls.
protocol CoreStream: DownloadStream {
  func makeSink(_ services: SinkServices) throws(SinkFailure) -> any Sink
}

/// A stream that watches a body and keeps nothing of it, so that a download may go on with its part beside it.
package protocol WatchingStream: DownloadStream {}

extension StreamAttachment {
  /// The part of a stream that an operation keeps until its transfer starts.
  init(_ stream: any DownloadStream, policy: StreamFailurePolicy) {
    if let stream = stream as? DiscardDownloadStream {
      // There may be as many of these as requests: none costs a closure with something in it.
      let (plain, digesting): (MakeSink, MakeSink) = (
        { _ in DiscardSink(nil) }, { _ in DiscardSink(SHA256()) }
      )
      self.init(
        isEssential: policy == .failOperation, close: { _ in },
        makeSink: stream.wantsDigest ? digesting : plain)
      return
    }
    self.init(
      isEssential: policy == .failOperation, part: try? (stream as? FileDownloadStream)?.part?.get(),
      isWatching: stream is any WatchingStream, close: { stream.close(.failure($0)) }
    ) { services in
      guard let own = stream as? any CoreStream else { return StreamSink(stream, services: services) }
      do throws(SinkFailure) { return try own.makeSink(services) } catch { return FailedSink(error) }
    }
  }
}
