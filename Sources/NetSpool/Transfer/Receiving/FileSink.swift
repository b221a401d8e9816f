internal import Synchronization

/// A body into a file. Collects on the loop thread, writes on a worker.
///
/// A body of up to 512 KiB is one job at its end: create, write, rename. A longer one goes out in 512 KiB
/// writes, two in flight at most, so that a slow disk holds 1 MiB of it and pauses its own transfer only.
/// What fails on the worker is thrown at the next `write` or `finish`; the working file is gone by then.
final class FileSink: Sink {
  private enum State {
    case filling
    case finishing
    /// Nothing fits to the part: it goes before that is told, as an attempt that follows must not meet it
    /// again.
    case discarding
    case ended(SinkFailure?)
  }

  /// 2, so that one fills while the other is written.
  private static let buffersMax = 2
  /// What is gathered of a part before it is written, where the disk is idle: a process that is killed loses
  /// that, and as much that is on its way to the disk.
  private static let partPieceBytes = 32 << 10

  private let worker: Worker
  private let pool: AlignedBufferPool
  private let lane: Worker.Lane
  /// Makes what the worker does, once the head is there.
  private let makeWork: MakeWork
  /// Of a body that should have gone on with a part: what does away with the part that nothing fits to. Blocks.
  private let discardPart: (@Sendable () -> Void)?

  private var state = State.filling
  private var bytesExpected: Int64?
  private var background: (any FileSinkWork)?
  private var current: AlignedBuffer?
  private var inFlight = 0
  /// A buffer has gone out: there is a file.
  private var wasSent = false
  private var isStarved = false
  private var ready: (() -> Void)?
  private(set) var report: NetworkResponse.StreamReport
  /// What the worker has done.
  private var jobsDone: Int64 = 0

  /// Throws when the path cannot be a file's; whether it can be written shows later.
  /// - Parameters:
  ///   - digests: whether the report has a SHA-256, worked out on the worker: 0.7 s of CPU per GiB.
  ///   - pool: shared by the sinks of one loop.
  ///   - device: the file's; each has threads of its own.
  convenience init(
    path: String, placement: FileWriter.Placement = .replace, digests: Bool = true,
    worker: Worker, pool: AlignedBufferPool, device: MountTable.Device = 0, expected: [UInt8]? = nil
  ) throws(SinkFailure) {
    let target = try FileTarget(path)
    self.init(path: path, worker: worker, pool: pool, lane: Worker.Lane(device: device)) { _, bytesExpected in
      FileSinkBackground(
        target: target, placement: placement, bytesExpected: bytesExpected, digests: digests,
        expected: expected)
    }
  }

  var progress: Int64 { jobsDone + (background?.progress ?? 0) }
  var waitsForReader: Bool { false }

  typealias MakeWork = (ResponseHead, Int64?) throws(SinkFailure) -> any FileSinkWork

  /// - Parameter makeWork: is called when the head is there, on the loop thread.
  init(
    path: String, worker: Worker, pool: AlignedBufferPool, lane: Worker.Lane,
    discardPart: (@Sendable () -> Void)? = nil, makeWork: @escaping MakeWork
  ) {
    self.discardPart = discardPart
    self.lane = lane
    self.worker = worker
    self.pool = pool
    self.makeWork = makeWork
    report = NetworkResponse.StreamReport(path: path)
  }

  func open(_ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void) throws(SinkFailure) {
    self.bytesExpected = bytesExpected
    self.ready = ready
    do throws(SinkFailure) { background = try makeWork(head, bytesExpected) } catch {
      guard error.code == .resumeMismatch, let discardPart else { throw error }
      discard(discardPart, then: error)
    }
  }

  func forgo(ready: @escaping () -> Void) { self.ready = ready }

  func write(_ bytes: RawSpan) throws(SinkFailure) -> Int {
    if case .ended(let failure?) = state { throw failure }
    if case .discarding = state { return 0 }
    var taken = 0
    while taken < bytes.byteCount, let buffer = bufferWithRoom() {
      taken += buffer.append(bytes, from: taken)
    }
    sendPartIfIdle()
    isStarved = taken < bytes.byteCount
    report.bytes += Int64(taken)
    return taken
  }

  /// The buffer for the next byte; nil while both are with the worker.
  ///
  /// A full one is sent only when there is more to come, so that a body of just its size is still one job.
  private func bufferWithRoom() -> AlignedBuffer? {
    if let full = current, full.isFull {
      send(full)
      current = nil
    }
    if current == nil && inFlight < Self.buffersMax {
      // After a full one another full one is to be expected, whatever was announced.
      current = pool.take(bytesExpected: wasSent ? .max : bytesExpected)
    }
    return current
  }

  private func sendPartIfIdle() {
    guard inFlight == 0, background?.keepsParts == true, let buffer = current,
      buffer.count >= Self.partPieceBytes
    else { return }
    current = nil
    send(buffer)
  }

  func finish(_ failure: NetworkError?) throws(SinkFailure) -> SinkProgress {
    switch state {
    case .filling:
      if let failure { abandon(failure) } else { publish() }
    case .finishing, .discarding: break
    case .ended(let problem?) where failure == nil: throw problem
    case .ended: break
    }
    guard case .ended = state else { return .pending }
    ready = nil
    return .done
  }
}

/// The messages to the worker and from it.
extension FileSink {
  private func send(_ buffer: AlignedBuffer) {
    guard let background else { return }
    wasSent = true
    inFlight += 1
    let me = LoopReference(self)
    worker.run(on: lane, { background.write(buffer) }) { [pool] failure in
      pool.give(buffer)
      me.object?.didWrite(failure)
    }
  }

  private func didWrite(_ failure: SinkFailure?) {
    inFlight -= 1
    jobsDone += 1
    if let failure, case .filling = state {
      dropCurrent()
      state = .ended(failure)
    }
    if case .filling = state { sendPartIfIdle() }
    guard isStarved || failure != nil else { return }
    isStarved = false
    ready?()
  }

  private func publish() {
    guard let background else { return state = .ended(nil) }
    state = .finishing
    let last = current.take()
    let me = LoopReference(self)
    worker.run(on: lane, { background.finish(last) }) { [pool] result in
      if let last { pool.give(last) }
      me.object?.didFinish(result)
    }
  }

  private func didFinish(_ result: Result<[UInt8]?, SinkFailure>) {
    do throws(SinkFailure) {
      report.digest = try result.get()
      end(nil)
    } catch { end(error) }
  }

  /// Nothing was sent: there is no file. Otherwise it is gone before the finish is.
  private func abandon(_ failure: NetworkError) {
    if background == nil, failure.code == .resumeMismatch, let discardPart {
      return discard(discardPart, then: nil)
    }
    guard let background, wasSent || current != nil && background.keepsParts else {
      dropCurrent()
      return state = .ended(nil)
    }
    state = .finishing
    let last = current.take()
    let me = LoopReference(self)
    worker.run(on: lane, { background.abandon(last) }) { [pool] in
      if let last { pool.give(last) }
      me.object?.end(nil)
    }
  }

  private func discard(_ part: @escaping @Sendable () -> Void, then failure: SinkFailure?) {
    dropCurrent()
    state = .discarding
    let me = LoopReference(self)
    worker.run(on: lane, part) { me.object?.end(failure) }
  }

  private func end(_ failure: SinkFailure?) {
    state = .ended(failure)
    ready.take()?()
  }

  private func dropCurrent() {
    if let last = current.take() { pool.give(last) }
  }
}

/// A `FileSink`'s half on the worker. All of it blocks on the disk; the jobs of one sink come one after the other.
protocol FileSinkWork: Sendable {
  /// Grows in the middle of a job that takes long. Any thread.
  var progress: Int64 { get }
  /// What came of a body that broke off is worth keeping.
  var keepsParts: Bool { get }
  /// Writes a buffer; after a failure, nothing any more.
  func write(_ buffer: AlignedBuffer) -> SinkFailure?
  /// Writes what is left and publishes; the digest if there is to be one.
  func finish(_ last: AlignedBuffer?) -> Result<[UInt8]?, SinkFailure>
  /// The body will never be whole.
  func abandon(_ last: AlignedBuffer?)
}

/// A `FileSink`'s half on the worker: the file, opened by the first job, and the digest.
///
/// The jobs of one sink share a lane, so the lock is never waited for.
final class FileSinkBackground: FileSinkWork {
  private struct State: ~Copyable, FailingWriter {
    var writer: FileWriter?
    var digest: SHA256?
    var failure: SinkFailure?

    mutating func giveUp() { writer = nil }

    mutating func add(_ bytes: RawSpan) throws(SinkFailure) {
      try writer?.write(bytes)
      digest?.update(bytes)
    }

    mutating func write(_ bytes: RawSpan) -> SinkFailure? {
      attempt { state throws(SinkFailure) in try state.add(bytes) }
    }
  }

  private let state: Mutex<State>
  private let target: FileTarget
  private let placement: FileWriter.Placement
  private let bytesExpected: Int64?
  private let expected: [UInt8]?

  /// - Parameter expected: the SHA-256 without which nothing is published.
  init(
    target: FileTarget, placement: FileWriter.Placement, bytesExpected: Int64?, digests: Bool,
    expected: [UInt8]? = nil
  ) {
    self.expected = expected
    self.target = target
    self.placement = placement
    self.bytesExpected = bytesExpected
    state = Mutex(State(digest: digests || expected != nil ? SHA256() : nil))
  }

  func write(_ buffer: AlignedBuffer) -> SinkFailure? {
    state.withLock { state in state.attempt { state throws(SinkFailure) in try add(buffer, to: &state) } }
  }

  func finish(_ last: AlignedBuffer?) -> Result<[UInt8]?, SinkFailure> {
    state.withLock { state in
      var digest: [UInt8]?
      let failure = state.attempt { state throws(SinkFailure) in
        try add(last, to: &state)
        digest = state.digest?.finish()
        if let failure = SinkFailure(of: target, digest, expected: expected) { throw failure }
        try state.writer.take()?.publish()
      }
      return failure.map { .failure($0) } ?? .success(digest)
    }
  }

  /// Letting go of an unpublished writer removes its file.
  func abandon(_ last: AlignedBuffer?) { state.withLock { $0.writer = nil } }

  var progress: Int64 { 0 }
  var keepsParts: Bool { false }

  private func add(_ buffer: AlignedBuffer?, to state: inout State) throws(SinkFailure) {
    if state.writer == nil {
      state.writer = try FileWriter(target, placement: placement, bytesExpected: bytesExpected)
    }
    try buffer?.withBytes { bytes throws(SinkFailure) in try state.add(bytes) }
  }

  // MARK: By hand

  /// Opens the file now and not with the first buffer, for a caller that writes on its own thread.
  func open() throws(SinkFailure) {
    let failure = state.withLock { state in
      state.attempt { state throws(SinkFailure) in try add(nil, to: &state) }
    }
    if let failure { throw failure }
  }

  /// Writes to the open file; after a failure, nothing any more.
  func write(_ bytes: RawSpan) -> SinkFailure? { state.withLock { $0.write(bytes) } }
}
