/// One-shot timers that are owned until they fire, are cancelled, or the queue closes.
final class TimerTable {
  typealias Key = Int

  private let loop: EventLoop
  private var timers: [Key: LoopTimer] = [:]
  private var lastKey = 0

  init(loop: EventLoop) { self.loop = loop }

  @discardableResult
  func after(milliseconds: UInt64, _ body: @escaping () -> Void) -> Key {
    lastKey += 1
    let key = lastKey
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

  func close() {
    for timer in timers.values { timer.close() }
    timers = [:]
  }
}
