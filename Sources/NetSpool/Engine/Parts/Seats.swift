/// The places of the queue: this loop's own, and its part of those of a queue with several loops. Whose turn it is, and
/// whose exchange makes room for another's. Loop thread.
final class Seats {
  /// The places of all loops; nil where this one has them.
  private let width: SharedWidth?
  /// Engines that wait and have nothing under way, and places that were lent to such.
  private(set) var starved = 0
  private(set) var lent = 0
  /// Places that this loop has waited for and been given, until somebody has had a chance to fill them.
  private var placesGranted = 0
  private let context: LoopContext

  init(_ context: LoopContext, _ settings: NetworkQueue.Configuration) {
    self.context = context
    width = context.port.driver.width
    // Of several loops each takes what it needs.
    context.queue.maximumConcurrent = width == nil ? settings.maximumConcurrent : 0
    if width != nil { context.queue.maximumAside = .max }
    context.queue.isSuspended = settings.isSuspended
  }

  /// The next whose turn it is. With `lends`, exchanges that have run for long enough may have to make room.
  func next(_ running: [Transfer], lends: Bool) -> NetworkOperation? {
    if let next = context.queue.next() { return next.element }
    return lends ? nextWithAnotherPlace() ?? nextWithLentPlace(of: running) : nil
  }

  // MARK: Making room

  /// Origins that are silent must not keep others waiting: who has had no answer for a second makes room.
  func letOthersPass(_ running: [Transfer], now: Microseconds) {
    guard isHeldUp else { return }
    for transfer in running where transfer.isSilent(now: now) && !transfer.exchange.standsAside {
      guard standAside(transfer) else { break }
    }
    // Of several loops, one that has places may have nobody who waits.
    if lendPlaces(of: running, now: now) { context.loop.markDirty() }
  }

  /// Engines that have nothing under way get a place each, whatever others do with theirs: who has had his for some
  /// milliseconds lends it. Not at once, for exchanges that are short end by then. True when some did.
  private func lendPlaces(of running: [Transfer], now: Microseconds) -> Bool {
    let wanted = width?.starved ?? starved
    var left = wanted
    for transfer in running where left > 0 && isHeldUp && transfer.mayLendPlace(now: now) {
      guard standAside(transfer) else { break }
      transfer.exchange.lendsPlace = true
      lend(1)
      left -= 1
    }
    return left < wanted
  }

  /// An engine has nothing under way, and others have all places.
  var isSomebodyStarved: Bool { isHeldUp && (width?.starved ?? starved) > 0 }

  /// Somebody might start but for the queue's width.
  private var isHeldUp: Bool { context.queue.isHeldUp || width?.isWanted ?? false }

  private func standAside(_ transfer: Transfer) -> Bool {
    if let width, !width.standAside() { return false }
    guard context.queue.standAside() else {
      width?.comeBack()
      return false
    }
    transfer.exchange.standsAside = true
    return true
  }

  func comeBack(_ transfer: Transfer) {
    guard transfer.exchange.standsAside else { return }
    if transfer.exchange.lendsPlace { lend(-1) }
    transfer.exchange.standsAside = false
    transfer.exchange.lendsPlace = false
    context.queue.comeBack()
    width?.comeBack()
  }

  private func lend(_ count: Int) { if let width { width.lend(count) } else { lent += count } }

  /// An engine has one more, or less, that waits for a place or has one.
  func seat(_ engine: NetworkEngine, waiting: Int = 0, running: Int = 0) {
    context.loop.assertOnLoop()
    if let width { return width.seat(engine, waiting: waiting, running: running) }
    let wasStarved = engine.seats.isStarved
    engine.seats.add(waiting: waiting, running: running)
    if engine.seats.isStarved != wasStarved { starved += wasStarved ? -1 : 1 }
  }

  // MARK: Several loops

  /// So many are taken at once, where there are so many.
  private static let placesAtOnce = 8

  /// Before others begin: those that went on without a turn are counted, and what is free is for the loops that wait.
  func keepTurns() {
    guard let width else { return }
    let more = context.queue.running - context.queue.maximumConcurrent
    if more > 0 {
      width.exceed(by: more, of: context.port.loop.number)
      context.queue.maximumConcurrent += more
    }
    if width.isScarce { giveBackPlaces(keeping: placesGranted, isContent: false) }
    placesGranted = 0
  }

  /// The next, with a place that no loop had. Where there is none, this loop is told of the next one.
  private func nextWithAnotherPlace() -> NetworkOperation? {
    guard let width, context.queue.isHeldUp else { return nil }
    context.queue.maximumConcurrent += width.take(
      min(context.queue.count, Self.placesAtOnce), for: context.port.loop.number)
    return context.queue.next()?.element
  }

  /// The next, with a place that is lent to an engine that has none.
  private func nextWithLentPlace(of running: [Transfer]) -> NetworkOperation? {
    guard isSomebodyStarved, lendPlaces(of: running, now: MonotonicClock.now) else { return nil }
    return context.queue.next()?.element
  }

  /// What is not filled is for others.
  func giveBackPlaces(keeping kept: Int = 0, isContent: Bool = true) {
    guard let width else { return }
    let free = context.queue.maximumConcurrent - context.queue.running - kept
    guard free > 0 else { return }
    context.queue.maximumConcurrent -= free
    context.queue.maximumConcurrent += width.give(
      free, of: context.port.loop.number, isContent: isContent, context.port.driver)
  }

  /// A place that was free is this loop's: the turn that follows has somebody fill it.
  func granted() {
    context.loop.assertOnLoop()
    context.queue.maximumConcurrent += 1
    placesGranted += 1
  }

  // MARK: Few places

  /// Places that are there for everybody, not what was lent.
  var uncrowded: Int {
    let free = context.queue.maximumConcurrent - context.queue.running
    return width.map { $0.uncrowded + free } ?? free - lent
  }

  /// Only what was lent is left.
  var areLentTheLast: Bool {
    if let width { return width.lent > 0 && width.uncrowded < 0 }
    return lent > 0 && context.queue.running + lent > context.queue.maximumConcurrent
  }
}
