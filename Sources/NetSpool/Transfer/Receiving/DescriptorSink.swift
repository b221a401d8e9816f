internal import Glibc

/// A body into an open descriptor: a pipe, a socket, a terminal, a file at its current position.
///
/// Pipes and sockets push back: `write` takes what fits now, and `ready` follows when there is room. A file is
/// written at once on the loop thread, into the page cache; for long bodies to disk use `FileSink`.
/// Nothing is changed for others who share the descriptor (see `FileDescriptor.privateWriter`). Threads that call
/// this must have SIGPIPE blocked or ignored: only sockets can be asked not to raise it.
final class DescriptorSink: Sink {
  /// Has `callback` called once on the loop thread, later, when the descriptor can be written to, and
  /// answers with a closure that calls it off. Called off or fired before the descriptor is closed.
  typealias WaitUntilWritable = (_ descriptor: CInt, _ callback: @escaping () -> Void) -> () -> Void

  private let descriptor: CInt
  private let waitUntilWritable: WaitUntilWritable
  private var own = FileDescriptor(owning: -1)
  private var isSocket = false
  private var cancelWait: (() -> Void)?
  /// Waiting makes a socket non-blocking for all who have it: what it was before.
  private var flagsBefore: CInt?
  private var ready: (() -> Void)?
  private var digest: SHA256?
  private(set) var report = NetworkResponse.StreamReport()

  /// - Parameter descriptor: stays the caller's, which closes it after the sink's finish.
  init(_ descriptor: CInt, digests: Bool = true, waitUntilWritable: @escaping WaitUntilWritable) {
    self.descriptor = descriptor
    self.waitUntilWritable = waitUntilWritable
    digest = digests ? SHA256() : nil
  }

  deinit { cancelWait?() }

  func open(_ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void) throws(SinkFailure) {
    self.ready = ready
    do throws(SystemError) {
      let kind = try FileStatus(ofDescriptor: descriptor).kind
      own = try FileDescriptor.privateWriter(for: descriptor, kind: kind)
      isSocket = kind == .socket
    } catch { throw problem(error) }
  }

  func write(_ bytes: RawSpan) throws(SinkFailure) -> Int {
    var taken = 0
    do throws(SystemError) {
      while taken < bytes.byteCount { taken += try writeOnce(bytes.extracting(taken...)) }
    } catch {
      guard error.number == EAGAIN else { throw problem(error) }
      waitForRoom()
    }
    return taken
  }

  private func writeOnce(_ bytes: RawSpan) throws(SystemError) -> Int {
    let count = isSocket ? try own.send(bytes) : try own.write(bytes)
    digest?.update(bytes.extracting(..<count))
    report.bytes += Int64(count)
    return count
  }

  private func waitForRoom() {
    guard cancelWait == nil else { return }
    flagsBefore = isSocket ? fcntl(own.rawValue, F_GETFL) : nil
    cancelWait = waitUntilWritable(own.rawValue) { [weak self] in
      self?.cancelWait = nil
      self?.restoreFlags()
      self?.ready?()
    }
  }

  private func restoreFlags() {
    if let flagsBefore, flagsBefore >= 0 { _ = fcntl(own.rawValue, F_SETFL, flagsBefore) }
    flagsBefore = nil
  }

  func finish(_ failure: NetworkError?) throws(SinkFailure) -> SinkProgress {
    cancelWait.take()?()
    restoreFlags()
    ready = nil
    do {
      if own.rawValue >= 0 { try own.close() }
    } catch { throw problem(error) }
    if failure == nil { report.digest = digest?.finish() }
    return .done
  }

  private func problem(_ failure: SystemError) -> SinkFailure {
    SinkFailure("could not write to", "descriptor \(descriptor)", failure)
  }
}
