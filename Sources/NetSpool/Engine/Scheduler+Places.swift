/// The places in the queue: this loop's own, and those of a queue with several loops.
extension Scheduler {
  // MARK: Making room

  /// Origins that are silent must not keep others waiting: who has had no answer for a second makes room.
  func letOthersPass(now: Microseconds) {
    guard isHeldUp else { return }
    for transfer in running where transfer.isSilent(now: now) && !transfer.exchange.standsAside {
      guard standAside(transfer) else { break }
    }
    // Of several loops, one that has places may have nobody who waits.
    if lendPlaces(now: now) { loop.markDirty() }
  }

  /// Engines that have nothing under way get a place each, whatever others do with theirs: who has had his for some
  /// milliseconds lends it. Not at once, for exchanges that are short end by then. True when some did.
  func lendPlaces(now: Microseconds) -> Bool {
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
  private var isHeldUp: Bool { queue.isHeldUp || width?.isWanted ?? false }

  private func standAside(_ transfer: Transfer) -> Bool {
    if let width, !width.standAside() { return false }
    guard queue.standAside() else {
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
    queue.comeBack()
    width?.comeBack()
  }

  private func lend(_ count: Int) { if let width { width.lend(count) } else { lent += count } }

  /// An engine has one more, or less, that waits for a place or has one.
  func seat(_ engine: NetworkEngine, waiting: Int = 0, running: Int = 0) {
    loop.assertOnLoop()
    if let width { return width.seat(engine, waiting: waiting, running: running) }
    let wasStarved = engine.seats.isStarved
    engine.seats.add(waiting: waiting, running: running)
    if engine.seats.isStarved != wasStarved { starved += wasStarved ? -1 : 1 }
  }

  // MARK: Several loops

  /// So many are taken at once, where there are so many.
  private static let placesAtOnce = 8

  /// Before others begin: those that went on without a turn are counted, and what is free is for the loops that wait.
  func keepTurns(_ width: SharedWidth) {
    let more = queue.running - queue.maximumConcurrent
    if more > 0 {
      width.exceed(by: more, of: port.loop.number)
      queue.maximumConcurrent += more
    }
    if width.isScarce { giveBackPlaces(width, keeping: placesGranted, isContent: false) }
    placesGranted = 0
  }

  /// The next, with a place that no loop had. Where there is none, this loop is told of the next one.
  func nextWithAnotherPlace() -> (element: NetworkOperation, origin: OriginID)? {
    guard let width, !isClosing, queue.isHeldUp else { return nil }
    queue.maximumConcurrent += width.take(min(queue.count, Self.placesAtOnce), for: port.loop.number)
    return queue.next()
  }

  /// The next, with a place that is lent to an engine that has none.
  func nextWithLentPlace() -> (element: NetworkOperation, origin: OriginID)? {
    guard !isClosing, isSomebodyStarved, lendPlaces(now: MonotonicClock.now) else { return nil }
    return queue.next()
  }

  /// What is not filled is for others.
  func giveBackPlaces(_ width: SharedWidth, keeping kept: Int = 0, isContent: Bool = true) {
    let free = queue.maximumConcurrent - queue.running - kept
    guard free > 0 else { return }
    queue.maximumConcurrent -= free
    queue.maximumConcurrent += width.give(free, of: port.loop.number, isContent: isContent, driver)
  }

  /// A place that was free is this loop's: the turn that follows has somebody fill it.
  func granted() {
    loop.assertOnLoop()
    queue.maximumConcurrent += 1
    placesGranted += 1
  }
}
