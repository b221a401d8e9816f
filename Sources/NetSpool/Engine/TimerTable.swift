/// Single-shot timers that are owned until they fire, are cancelled, or the queue closes.
final class TimerTable {
  typealias Key = Int

  private let loop: EventLoop
  private var timers: [Key: (timer: LoopTimer, body: () -> Void)] = [:]
  /// Fired, and still to be run: thousands may fire at once, and others want their turn.
  // Safe because timers fire on the loop thread, and a list calls nobody back.
  @safe @exclusivity(unchecked) private var fired = FIFO<Key>()
  private var lastKey = 0
  private var isClosed = false

  /// Some have fired, and want their turn: `runPiece` is to be called until none is left.
  var onFire: () -> Void = {}

  init(loop: EventLoop) { self.loop = loop }

  /// The number of timers that have not run.
  var count: Int { timers.count }

  @discardableResult
  func after(milliseconds: UInt64, _ body: @escaping () -> Void) -> Key {
    lastKey += 1
    let key = lastKey
    if isClosed { return key }
    let timer = LoopTimer(on: loop) { [unowned self] in
      fired.append(key)
      if fired.count == 1 { onFire() }
    }
    timers[key] = (timer, body)
    timer.start(milliseconds: milliseconds)
    return key
  }

  /// Runs some of those that have fired; false when they were the last.
  func runPiece() -> Bool {
    for _ in 0..<Turn.piece {
      guard let key = fired.popFirst() else { return false }
      guard let (timer, body) = timers.removeValue(forKey: key) else { continue }
      timer.close()
      body()
    }
    return !fired.isEmpty
  }

  func cancel(_ key: Key?) {
    if let key { timers.removeValue(forKey: key)?.timer.close() }
  }

  /// None fires any more, and none is taken.
  func close() {
    isClosed = true
    for (timer, _) in timers.values { timer.close() }
    timers = [:]
  }
}
