/// The bytes kept of a body on its way to streams, for the cache and for operations that come late: in memory while it is
/// short, and in a file beside the store once it is longer.
///
/// Another sink of the fan-out, but one that never fails and holds no other up: when the disk is full, refuses or stays
/// behind, the spool gives itself up, and the body goes on without. Loop thread.
final class BodySpool: Sink {
  /// Where it spools to.
  struct Place {
    let directory: String
    let room: BudgetRoom
    let worker: Worker
    let lane: Worker.Lane
    let buffers: AlignedBufferPool
    /// What all spools of the queue have in memory.
    let memory: BudgetRoom
    /// See `CacheStoreSettings`.
    let slack: Int
    let onDisk: (@Sendable () -> Void)?
    let after: (UInt64, @escaping () -> Void) -> Void
  }

  /// What is kept of all bodies in memory at once: 32 MiB.
  static let memoryMax = 32 << 20
  /// A shorter body has no file: 256 KiB.
  static let beginningMax = 256 << 10
  /// When so much waits for the disk, the transfer does, too: 4 MiB.
  private static let behindMax = 4 << 20
  /// So long in all. It is enough for a writer whom the system gave no turn; a disk that is slower than the network is no
  /// reason to wait, unless there are some who have begun to read here and could not go on.
  private var holdMax: Microseconds { (readers == 0 ? 50_000 : 1_000_000) * Microseconds(place.slack) }
  /// So long an ending waits for the last bytes to be written, in milliseconds: less than the 50 ms that are promised to all.
  private static let patience: UInt64 = 40
  /// So long the last bytes have after that.
  private static let lastChance: UInt64 = 2_000

  private enum State {
    case coming
    /// All of it has come, and some has still to be written.
    case whole
    case kept
    case givenUp
  }

  let place: Place
  private let bytesMax: Int
  private let staysInMemory: Bool
  private var state = State.coming
  private var beginning: [UInt8] = []
  private var writer: SpoolWriter?
  private var current: AlignedBuffer?
  private var file: SpoolFile?
  /// The bytes that are in the file.
  private var written = 0
  /// The number of readers of what is spooled.
  var readers = 0
  private var waiters: [() -> Void] = []
  private var isOverdue = false
  /// How long the transfer has been held up, and since when it is.
  private var held: Microseconds = 0
  private var heldSince: Microseconds?
  private var ready: () -> Void = {}
  /// All that has come.
  private(set) var count = 0
  let report = NetworkResponse.StreamReport()
  var progress: Int64 { Int64(written) }
  var waitsForReader: Bool { false }

  /// Called once the body is whole and in its file, or cannot be kept; not for one that never became whole, nor for one in
  /// memory (`wholeBeginning`).
  var onKept: (SpoolFile?) -> Void = { _ in }

  /// - Parameters:
  ///   - bytesMax: a longer body is not kept.
  ///   - staysInMemory: it has no file, however long it is.
  init(at place: Place, bytesMax: Int, staysInMemory: Bool = false) {
    self.place = place
    self.bytesMax = bytesMax
    self.staysInMemory = staysInMemory
  }

  deinit { release() }

  func open(_ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void) { self.ready = ready }

  func write(_ bytes: RawSpan) -> Int {
    if holdsUp() { return 0 }
    count += bytes.byteCount
    guard case .coming = state else { return bytes.byteCount }
    // It is too long to be stored, but those who read it here have begun.
    if count > bytesMax && readers == 0 || !keep(bytes) || !waiters.isEmpty && !sendIfIdle() { giveUp() }
    return bytes.byteCount
  }

  func finish(_ failure: NetworkError?) -> SinkProgress {
    switch state {
    case .coming where failure != nil:
      onKept = { _ in }
      giveUp()
    case .coming: end()
    case .whole where failure != nil: isOverdue = true
    case .givenUp: tell(nil)
    case .whole, .kept: break
    }
    if case .whole = state, !isOverdue { return .pending }
    ready = {}
    return .done
  }

  /// All that has come, while it is in memory.
  var wholeBeginning: [UInt8]? {
    if case .coming = state, writer == nil { beginning } else { nil }
  }

  // MARK: Keeping

  /// True while too much waits for the disk.
  private func holdsUp() -> Bool {
    guard case .coming = state, let writer, writer.behind >= Self.behindMax else { return false }
    if heldSince != nil { return true }
    let left = holdMax - held
    if left <= 0 { return false }
    let now = MonotonicClock.now
    heldSince = now
    place.after(UInt64(left / 1_000) + 1) { [weak self] in
      guard let self, heldSince == now else { return }
      giveUp()
      goOn()
    }
    return true
  }

  private func goOn() {
    guard let since = heldSince else { return }
    held += MonotonicClock.now - since
    heldSince = nil
    ready()
  }

  private func keep(_ bytes: RawSpan) -> Bool {
    guard writer == nil else { return put(bytes) }
    if staysInMemory || beginning.count + bytes.byteCount <= Self.beginningMax {
      guard place.memory.take(bytes.byteCount) else { return false }
      beginning.append(bytes)
      return true
    }
    return beginFile() && put(bytes)
  }

  private func beginFile() -> Bool {
    writer = SpoolWriter(place)
    let first = beginning
    forgetBeginning()
    return put(first.rawBytes)
  }

  private func put(_ bytes: RawSpan) -> Bool {
    var taken = 0
    while taken < bytes.byteCount {
      if current == nil {
        guard place.memory.take(AlignedBuffer.fullCapacity) else { return false }
        current = place.buffers.take(bytesExpected: .max)
      }
      guard let buffer = current else { return false }
      taken += buffer.append(bytes, from: taken)
      if buffer.isFull, !send() { return false }
    }
    return true
  }

  /// Has the worker write what has gathered; false when too much waits there already.
  private func send() -> Bool {
    guard let writer, let buffer = current else { return true }
    current = nil
    let me = LoopReference(self)
    guard writer.add(buffer, behindMax: 2 * Self.behindMax) else { return false }
    place.worker.run(on: place.lane, { writer.write(buffer) }) { file in me.object?.didWrite(file) }
    return true
  }

  private func didWrite(_ file: SpoolFile?) {
    if case .givenUp = state { return }
    if let file {
      self.file = file
      written = file.count
      endIfWritten()
    } else {
      giveUp()
    }
    tellReaders()
    if case .coming = state, let writer, writer.behind >= Self.behindMax { return }
    goOn()
    if case .coming = state {} else { ready() }
  }

  // MARK: The end

  private func end() {
    guard writer != nil else {
      state = .kept
      return forgetBeginning()
    }
    state = .whole
    guard send() else { return giveUp() }
    endIfWritten()
    guard case .whole = state else { return }
    // It lives until then: who shares the ending does not hold it any more.
    let slack = UInt64(place.slack)
    place.after(Self.patience * slack) { [self] in
      guard case .whole = state else { return }
      isOverdue = true
      ready()
      place.after(Self.lastChance * slack) { [self] in if case .whole = state { giveUp() } }
    }
  }

  private func endIfWritten() {
    guard case .whole = state, written == count else { return }
    state = .kept
    tell(count > bytesMax ? nil : file)
    if !waiters.isEmpty { place.after(0) { [self] in tellReaders() } }
  }

  private func giveUp() {
    let wasWhole = if case .whole = state { true } else { false }
    state = .givenUp
    release()
    (writer, file) = (nil, nil)
    // It may be in the middle of libcurl's work.
    if !waiters.isEmpty { place.after(0) { [self] in tellReaders() } }
    if wasWhole { tell(nil) }
  }

  private func tell(_ kept: SpoolFile?) {
    let onKept = onKept
    self.onKept = { _ in }
    onKept(kept)
  }

  private func release() {
    forgetBeginning()
    if let buffer = current.take() { writer?.giveBack(buffer) }
    writer?.giveUp()
  }

  private func forgetBeginning() {
    place.memory.give(beginning.count)
    beginning = []
  }

  // MARK: Those who come late

  /// What a reader finds.
  enum Found {
    case bytes(SpoolFile)
    case later
    case end
    /// The spool was given up.
    case lost
  }

  /// It can be read from its first byte on.
  var canBeRead: Bool {
    if case .coming = state { !staysInMemory && count <= bytesMax } else { false }
  }

  /// From now on there is a file.
  func prepareToBeRead() { if writer == nil, !beginFile() { giveUp() } }

  func look(from offset: Int) -> Found {
    if let file, written > offset { return .bytes(file) }
    switch state {
    case .givenUp: return .lost
    case .kept where offset == count: return .end
    case .coming, .whole, .kept: return .later
    }
  }

  /// Calls once, when what `look` finds may have changed.
  func whenThereIsMore(_ body: @escaping () -> Void) {
    waiters.append(body)
    // What has gathered is not kept from one who has read all before it; what is being written brings him back here.
    if case .coming = state, !sendIfIdle() { giveUp() }
  }

  private func sendIfIdle() -> Bool { writer?.behind == 0 ? send() : true }

  private func tellReaders() {
    let ready = waiters
    waiters = []
    for body in ready { body() }
  }
}
