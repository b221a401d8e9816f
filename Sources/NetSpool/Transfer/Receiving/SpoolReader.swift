/// A reader that came late: reads a spool from its first byte on, piece by piece on a worker, and then follows what comes.
final class SpoolReader: PlaybackSource {
  private let spool: BodySpool
  private let lane: Worker.Lane
  private var piece: [UInt8] = []
  private var isReading = false
  /// The rest will never be there.
  private var isLost = false
  var onBytes: () -> Void = {}
  /// Called once, when what is left of the body cannot be had from here.
  var onLost: () -> Void = {}

  init(_ spool: BodySpool) {
    self.spool = spool
    lane = Worker.Lane(device: spool.place.lane.device)
    spool.readers += 1
  }

  deinit { spool.readers -= 1 }

  func lend(from offset: Int, atMost max: Int, to body: (RawSpan) -> Void) -> Int? {
    if !piece.isEmpty {
      let bytes = piece
      piece = []
      body(bytes.rawBytes)
      return bytes.count
    }
    if isReading || isLost { return 0 }
    switch spool.look(from: offset) {
    case .end: return nil
    case .lost: lose()
    case .bytes(let file): read(file, at: offset, max)
    case .later: spool.whenThereIsMore { [weak self] in self?.onBytes() }
    }
    return 0
  }

  private func read(_ file: SpoolFile, at offset: Int, _ max: Int) {
    isReading = true
    let me = LoopReference(self)
    spool.place.worker.run(on: lane, { try? file.read(at: offset, max: max) }) { bytes in
      me.object?.didRead(bytes)
    }
  }

  private func didRead(_ bytes: [UInt8]?) {
    isReading = false
    guard let bytes else { return lose() }
    piece = bytes
    onBytes()
  }

  private func lose() {
    isLost = true
    let onLost = onLost
    self.onLost = {}
    onLost()
  }
}

/// Keeps a body in memory for one who came late and has no streams.
final class MemorySink: Sink {
  private let bytesMax: Int
  private(set) var bytes: [UInt8] = []
  let report = NetworkResponse.StreamReport()

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  func open(_ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void) {
    bytes.reserve(announced: bytesExpected, atMost: bytesMax)
  }

  func write(_ more: RawSpan) throws(SinkFailure) -> Int {
    guard bytes.count + more.byteCount <= bytesMax else {
      bytes = []  // nobody gets a part of it
      throw SinkFailure(reason: "more than \(bytesMax) bytes", code: .bodyTooLarge)
    }
    bytes.append(more)
    return more.byteCount
  }

  func finish(_ failure: NetworkError?) -> SinkProgress { .done }

  func take() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }
}
