#if !MODEL_PROGRAM
@testable import NetSpool
@testable import TestSupport
#endif

/// Plays libcurl and all origins: each transfer gets a head, a body in pieces, and an end, or a part of it and a failure, or
/// silence. One step is one event of one transfer.
final class ModelWire: SimulatedWire {
  private struct Exchange {
    let transfer: Transfer
    var pieces: [Piece]
    var isPaused = false
  }

  private enum Piece {
    case head([String])
    case body(Int)
    case end(Int32)
    /// Nothing comes any more.
    case silence
  }

  var random = SplitMix64(seed: 0)
  private var exchanges: [Exchange] = []
  private static let bytes = [UInt8](repeating: 0x61, count: 700_000)

  var count: Int { exchanges.count }

  /// Somebody has something to say.
  var hasWork: Bool { exchanges.contains { !$0.isPaused } }

  static func url(_ number: Int) -> String { "http://127.0.0.\(1 + number % 2):8\(number % 2)/\(number)" }

  // MARK: What the scheduler does

  func began(_ transfer: Transfer) {
    exchanges.append(Exchange(transfer: transfer, pieces: script(for: transfer).reversed()))
  }

  func resumed(_ transfer: Transfer) {
    for index in exchanges.indices where exchanges[index].transfer === transfer {
      exchanges[index].isPaused = false
    }
  }

  func ended(_ transfer: Transfer) { exchanges.removeAll { $0.transfer === transfer } }

  // MARK: What origins do

  /// One event; false when nobody has anything to say.
  @discardableResult
  func step() -> Bool {
    let ready = exchanges.indices.filter { index in
      if case .silence? = exchanges[index].pieces.last { return false }
      return !exchanges[index].isPaused
    }
    guard !ready.isEmpty else { return false }
    let index = ready[random.below(ready.count)]
    let transfer = exchanges[index].transfer
    switch exchanges[index].pieces.popLast() {
    case .head(let lines)?:
      // The empty line ends a head.
      let isTaken = (lines + [""]).allSatisfy { transfer.received(header: Array("\($0)\r\n".utf8).rawBytes) }
      if !isTaken { finish(transfer, 23) }
    case .body(let count)?:
      switch transfer.received(body: Self.bytes.rawBytes.extracting(0..<count)) {
      case .taken: break
      case .abort: finish(transfer, 23)
      case .pause:
        // libcurl keeps what was not taken.
        exchanges[index].pieces.append(.body(count))
        exchanges[index].isPaused = true
      }
    case .end(let code)?: finish(transfer, code)
    case .silence?, nil: break
    }
    return true
  }

  private func finish(_ transfer: Transfer, _ code: Int32) {
    // It says no more; the scheduler takes it off.
    for index in exchanges.indices where exchanges[index].transfer === transfer {
      exchanges[index].isPaused = true
    }
    transfer.multi.didBreak(transfer, code: code)
  }

  private func script(for transfer: Transfer) -> [Piece] {
    // Failures of libcurl: no connection, cut off, nothing came, send failed.
    if random.chance(8) { return [.end([7, 56, 52, 55][random.below(4)])] }
    if random.chance(5) { return [.silence] }
    let operation = transfer.exchange.owner as? NetworkOperation
    let isConditional = operation?.loop.cacheUse?.isConditional ?? false
    if isConditional, random.chance(60) {
      return [.head(["HTTP/1.1 304 Not Modified", "ETag: \"a\""] + age()), .end(0)]
    }
    let large = transfer.exchange.fanout == nil ? 1 : 30
    let lengths = (0..<random.below(4)).map { _ in
      random.chance(large) ? 700_000 : [1, 20, 3_000][random.below(3)]
    }
    let length = lengths.reduce(0, +)
    var pieces: [Piece] = lengths.map { .body($0) }
    if random.chance(6) {
      pieces =
        Array(pieces.prefix(random.below(pieces.count + 1))) + [random.chance(50) ? .silence : .end(18)]
    } else {
      pieces.append(.end(0))
    }
    return [.head(head(length))] + pieces
  }

  private func head(_ length: Int) -> [String] {
    let fields = ["Content-Length: \(length)"]
    switch random.below(20) {
    case 0, 1:
      let status = [301, 302, 303, 307, 308][random.below(5)]
      return ["HTTP/1.1 \(status) Moved", "Location: \(Self.url(random.below(6)))"] + fields
    case 2: return ["HTTP/1.1 404 Not Found"] + fields
    case 3, 4:
      return ["HTTP/1.1 503 Busy"] + fields + (random.chance(30) ? ["Retry-After: \(random.below(4))"] : [])
    case 5: return ["HTTP/1.1 429 Slowly", "Retry-After: \(random.below(20))"] + fields
    case 6: return ["HTTP/1.1 500 Error"] + fields
    case 7: return ["HTTP/1.1 304 Not Modified"]
    case 8: return ["nonsense"]
    case 9: return ["HTTP/1.1 401 Who", "WWW-Authenticate: Basic realm=\"a\""] + fields
    default: return ["HTTP/1.1 200 OK", "ETag: \"a\""] + age() + fields
    }
  }

  private func age() -> [String] { ["Cache-Control: max-age=\([0, 1, 60][random.below(3)])"] }
}

/// Takes bodies in its own time, and sometimes fails.
final class ModelStream: DownloadStream, @unchecked Sendable {
  // Safe because streams are called on the loop's thread, which is the model's.
  private var random: SplitMix64
  private let isSlow: Bool
  private let fails: Bool

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    isSlow = random.chance(50)
    fails = random.chance(10)
  }

  struct Failure: Error {}

  func open(_ head: ResponseHead, bytesExpected: Int64?) throws {
    if fails, random.chance(30) { throw Failure() }
  }

  func write(_ bytes: RawSpan) throws -> WriteResult {
    if fails, random.chance(30) { throw Failure() }
    return isSlow && random.chance(60) ? .took(random.below(min(bytes.byteCount, 60_000) + 1)) : .accepted
  }

  func close(_ outcome: Result<Void, NetworkError>) {}
}

/// A sink of the kit's own kind, which needs time for its end, published or abandoned, and now and then hangs for ever.
final class ModelSink: Sink {
  private var random: SplitMix64
  private let after: (UInt64, @escaping () -> Void) -> Void
  private let hangs: Bool
  private var ready: (() -> Void)?
  private var isEnding = false
  private var isDone = false
  let report = NetworkResponse.StreamReport()
  var waitsForReader: Bool { false }

  init(seed: UInt64, after: @escaping (UInt64, @escaping () -> Void) -> Void) {
    random = SplitMix64(seed: seed)
    hangs = random.chance(5)
    self.after = after
  }

  func open(_ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void) { self.ready = ready }
  func forgo(ready: @escaping () -> Void) { self.ready = ready }

  func write(_ bytes: RawSpan) -> Int {
    precondition(!isEnding, "a sink that ends is fed")
    if random.chance(70) { return bytes.byteCount }
    if !hangs { after(UInt64(random.below(300))) { [weak self] in self?.ready?() } }
    return random.below(min(bytes.byteCount, 60_000) + 1)
  }

  func finish(_ failure: NetworkError?) -> SinkProgress {
    if isDone || ready == nil { return .done }
    if isEnding || hangs { return .pending }
    isEnding = true
    after(UInt64(random.below(300))) { [self] in
      isDone = true
      ready?()
    }
    return .pending
  }
}
