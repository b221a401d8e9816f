/// A body on its way into the streams of an operation, as fast as they take it: a stored one, or one that still comes and is
/// read where it is spooled. Loop thread.
final class Playback {
  /// What is written before the streams are asked whether they keep up.
  private static let pieceBytes = 256 << 10

  private let source: any PlaybackSource
  private let head: ResponseHead
  private let bytesExpected: Int64?
  private let makeFanout: () -> SinkFanout?
  private var fanout: SinkFanout?
  private var offset = 0
  private var isWriting = false
  private var isStopped = false
  private var isAtEnd = false
  private var done: (() -> Void)?
  let startedAt = MonotonicClock.now

  /// - Parameter makeFanout: is called when there is something to write. Nil: it is not wanted any more.
  init(
    _ source: any PlaybackSource, head: ResponseHead, bytesExpected: Int64?,
    into makeFanout: @escaping () -> SinkFanout?
  ) {
    (self.source, self.head, self.bytesExpected) = (source, head, bytesExpected)
    self.makeFanout = makeFanout
  }

  /// Opens the streams, at once or with the first bytes, and writes what there is.
  func start(opensAtOnce: Bool = false) {
    if opensAtOnce { open() }
    source.onBytes = { [weak self] in self?.advance() }
    advance()
  }

  /// There is an answer: `done` is called once all is written, perhaps at once.
  func finish(_ done: @escaping () -> Void) {
    self.done = done
    advance()
  }

  /// Stops, as the rest is not wanted.
  func stop() {
    isStopped = true
    done = nil
    source.onBytes = {}
    fanout?.onRoom = {}
  }

  private func advance() {
    guard !isWriting, !isStopped else { return }
    isWriting = true
    while !isAtEnd, !isStopped, fanout?.isCongested != true {
      let count = source.lend(from: offset, atMost: Self.pieceBytes) { bytes in
        open()
        fanout?.write(bytes)
      }
      guard let count else {
        isAtEnd = true
        open()  // of an empty body, too
        break
      }
      if count == 0 { break }
      offset += count
    }
    isWriting = false
    guard isAtEnd, let done else { return }
    stop()
    done()
  }

  private func open() {
    guard fanout == nil, let fanout = makeFanout() else { return }
    self.fanout = fanout
    fanout.onRoom = { [weak self] in self?.advance() }
    fanout.open(head, bytesExpected: bytesExpected)
  }
}

/// Where a playback has its bytes from.
protocol PlaybackSource: AnyObject {
  /// Lends the next bytes from an offset on and answers how many. 0: they are not there yet, and `onBytes` is called when
  /// they are. Nil: that was all.
  func lend(from offset: Int, atMost max: Int, to body: (RawSpan) -> Void) -> Int?

  var onBytes: () -> Void { get set }
}

/// A stored body.
final class StoredBodySource: PlaybackSource {
  private let body: ResponseBytes
  private let read: (Range<Int>, StoredBodySource) -> Void
  private var piece: [UInt8] = []
  private var isReading = false
  var onBytes: () -> Void = {}

  /// - Parameter read: has a piece of a body that is not in memory read, which goes to `take`, perhaps at once.
  init(_ body: ResponseBytes, read: @escaping (Range<Int>, StoredBodySource) -> Void) {
    (self.body, self.read) = (body, read)
  }

  func lend(from offset: Int, atMost max: Int, to use: (RawSpan) -> Void) -> Int? {
    let end = min(body.count, offset + max)
    if offset == end { return nil }
    if body.isInMemory {
      body.withBytes(offset..<end, use)
      return end - offset
    }
    if piece.isEmpty, !isReading {
      isReading = true
      read(offset..<end, self)
    }
    let bytes = piece
    piece = []
    if !bytes.isEmpty { use(bytes.rawBytes) }
    return bytes.count
  }

  /// A piece has been read.
  func take(_ bytes: [UInt8]) {
    (piece, isReading) = (bytes, false)
    onBytes()
  }
}
