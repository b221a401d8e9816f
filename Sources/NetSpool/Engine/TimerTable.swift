/// One-shot timers that are owned until they fire, are cancelled, or the queue closes.
final class TimerTable {
  typealias Key = Int

  private let loop: EventLoop
  private var timers: [Key: LoopTimer] = [:]
  private var lastKey = 0
  private var isClosed = false

  init(loop: EventLoop) { self.loop = loop }

  /// Those that have not fired.
  var count: Int { timers.count }

  @discardableResult
  func after(milliseconds: UInt64, _ body: @escaping () -> Void) -> Key {
    lastKey += 1
    let key = lastKey
    if isClosed { return key }
    let timer = LoopTimer(on: loop) { [unowned self] in
      cancel(key)
      body()
      loop.markDirty()
    }
    timers[key] = timer
    timer.start(milliseconds: milliseconds)
    return key
  }

  func cancel(_ key: Key?) {
    guard let key else { return }
    timers.removeValue(forKey: key)?.close()
  }

  /// None fires any more, and none is taken.
  func close() {
    isClosed = true
    for timer in timers.values { timer.close() }
    timers = [:]
  }
}
