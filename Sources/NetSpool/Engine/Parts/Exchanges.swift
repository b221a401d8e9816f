/// The exchanges under way: how many there may be, and which of them take nothing. Loop thread.
final class Exchanges {
  // Safe because the loop thread alone has it, as `Scheduler.move` asserts, and these are values that call nobody back.
  @safe @exclusivity(unchecked) private(set) var running: [Transfer] = []
  /// How many of them the process has descriptors for.
  @safe @exclusivity(unchecked) var descriptors = DescriptorWidth()
  /// Transfers made since admission began.
  var newTransfers = 0
  /// Twenty times a second while anything runs, and once more.
  private var timer: LoopTimer?
  private var ticks = 0
  /// When streams that take nothing are looked at next; 0: from this turn on.
  private var readersWatch: TimerTable.Key?
  private let context: LoopContext
  /// Called with the number of the tick.
  var onTick: (Int) -> Void = { _ in }
  /// Told of an exchange whose streams have taken nothing for a while.
  var onStandstill: (Transfer) -> Void = { _ in }

  init(_ context: LoopContext) {
    self.context = context
    timer = LoopTimer(on: context.loop) { [unowned self] in
      if running.isEmpty { timer?.stop() }
      ticks += 1
      onTick(ticks)
    }
  }

  func close() {
    timer?.close()
    timer = nil
  }

  func add(_ transfer: Transfer) {
    transfer.exchange.slot = running.count
    running.append(transfer)
    if timer?.isActive == false { timer?.start(milliseconds: 50, repeating: 50) }
  }

  func remove(_ transfer: Transfer) {
    let last = running.removeLast()
    if last !== transfer {
      running[transfer.exchange.slot] = last
      last.exchange.slot = transfer.exchange.slot
    }
    transfer.exchange.slot = -1
  }

  /// Looks again how many may be under way, when something waits. A model has no descriptors.
  func countDescriptors(isAwaited: Bool) {
    guard context.queue.count > 0 || isAwaited, context.loop.timeline == nil,
      descriptors.wantsCount(running: running.count, now: MonotonicClock.now)
    else { return }
    var unopened = 0
    for transfer in running where transfer.exchange.fanout != nil && transfer.exchange.head == nil {
      unopened += DescriptorWidth.perExchange - 1
    }
    let free = DescriptorRoom.free()
    descriptors.count(
      free: free == .max ? free : free / context.port.driver.loops.count, limit: DescriptorRoom.limit,
      running: running.count, unopened: unopened, now: MonotonicClock.now)
  }

  /// Looks soon at exchanges that are paused for their streams, as one has just been. In the middle of libcurl's work.
  func watchReaders() {
    guard readersWatch == nil else { return }
    readersWatch = 0
    context.later { [unowned self] in lookAtReaders() }
  }

  /// Tells of those that take nothing from one look to the next, and one more. Not at once: a stream that keeps up pauses now
  /// and then.
  private func lookAtReaders() {
    readersWatch = context.timers.after(milliseconds: Self.readersMilliseconds) { [unowned self] in
      readersWatch = nil
      for transfer in running where transfer.isPausedByReader && !transfer.exchange.hasYielded {
        transfer.exchange.looksPaused += 1
        if transfer.exchange.looksPaused >= 2 { onStandstill(transfer) } else { watchReaders() }
      }
    }
  }

  /// Twice that is how long others may have to wait for its place, and little beside the 50 ms that are promised.
  private static let readersMilliseconds: UInt64 = 15
}
