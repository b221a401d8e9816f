internal import Synchronization

/// Which loop of a queue has what. An operation is on the loop of its first URL's origin to its end, wherever it is redirected;
/// so equal requests meet there, and so do all who share the origin's width. Where origins are split it is the loop of the
/// URL itself: equal requests meet as well, and each loop has its part of the width (`NetworkQueue.Configuration.part`).
extension QueueDriver {
  /// With as many loops as the settings say and the process's descriptors allow.
  convenience init(_ settings: NetworkQueue.Configuration) {
    self.init(settings: settings, loops: settings.loops.count(descriptors: DescriptorRoom.limit))
  }

  func port(of loop: QueueLoop) -> LoopPort { LoopPort(driver: self, loop: loop) }

  /// Where requests of this engine for a URL go; the home loop for what leads nowhere. An engine that keeps cookies has one
  /// loop for all, that of its own origin if it has one: libcurl's jar is no two threads'.
  func port(for url: String, of engine: NetworkEngine) -> LoopPort {
    port(of: loops[number(for: url, of: engine)])
  }

  func number(for url: String, of engine: NetworkEngine) -> Int {
    if loops.count == 1 { return 0 }
    if engine.handleSettings.keepsCookies {
      return engine.home.map { number(of: $0.text.utf8.span) } ?? Int(engine.id % UInt64(loops.count))
    }
    if splitsHotOrigins { return number(of: url.utf8.span) }
    if let length = PlainURL.canonicalOriginLength(url) {
      return number(of: url.utf8.span.extracting(first: length))
    }
    guard let pieces = try? URLParser.parse(url).pieces else { return 0 }
    return number(of: pieces.origin.text.utf8.span)
  }

  private func number(of text: Span<UInt8>) -> Int { Int(Checksum.of(text) % UInt64(loops.count)) }

  /// Frozen requests keep the order in which they were enqueued whatever their origins: one loop hands them to the store.
  func number(for operation: NetworkOperation) -> Int {
    let request = operation.request
    return request.isFreezable ? home.number : number(for: request.url, of: operation.engine)
  }

  // MARK: All of them

  /// Runs a closure on the thread of each loop that has begun: the others know of nothing. `done` comes when the last of them
  /// has, on any thread, at once where none has begun.
  func performEverywhere(
    of engine: UInt64? = nil, _ action: @escaping Action, done: @escaping @Sendable () -> Void = {}
  ) {
    let countdown = Countdown(1, done)
    if !isOfParent {
      for loop in loops where loop.isStarted {
        let part = countdown.part()
        port(of: loop).perform(of: engine) { core in
          action(core)
          part.end()
        }
      }
    }
    countdown.signal()
  }
}

extension NetworkOperation {
  /// No loop has it yet.
  static let unplaced = UInt8.max

  /// The number of its loop, which is found when it is asked for first, by the request as it stands then, and is its own from
  /// then on. Any thread.
  var place: Int {
    let driver = engine.driver
    if driver.loops.count == 1 { return 0 }
    var number = loopNumber.load(ordering: .acquiring)
    if number == Self.unplaced {
      let found = UInt8(driver.number(for: self))
      let (isPlaced, other) = loopNumber.compareExchange(
        expected: number, desired: found, ordering: .acquiringAndReleasing)
      number = isPlaced ? found : other
    }
    return Int(number)
  }

  /// The way there. Any thread.
  var port: LoopPort { engine.driver.port(of: engine.driver.loops[place]) }

  /// The same of one that has come there; nil before, and where there is only one.
  var placedPort: LoopPort? {
    loopNumber.load(ordering: .acquiring) == Self.unplaced ? nil : port
  }

  /// Any thread: runs a closure on its loop, behind everything that its engine has sent there before.
  @discardableResult
  func perform(_ action: @escaping QueueDriver.Action) -> Bool { port.perform(of: engine.id, action) }
}

extension QueueDriver {
  /// What all loops know, each at its own moment; calls back on the last of them, or at once where none has begun.
  func snapshot(_ done: @escaping @Sendable (NetworkQueue.Snapshot) -> Void) {
    let origins = Mutex<[NetworkQueue.OriginSnapshot]>([])
    performEverywhere {
      origins.withLock { [snapshot = $0.snapshot()] in $0 += snapshot.origins }
    } done: { [self] in
      let all = origins.withLock { Dictionary($0.map { ($0.origin, $0) }) { $0.joined(by: $1) } }
      let busiest = all.values.sorted { a, b in
        (a.running, a.waiting, b.origin) > (b.running, b.waiting, a.origin)
      }
      done(NetworkQueue.Snapshot(activity: activity, origins: busiest))
    }
  }
}

extension NetworkQueue.OriginSnapshot {
  /// With the same origin on another loop, where redirects have led to it.
  fileprivate func joined(by other: Self) -> Self {
    var both = self
    // Either may be all that a number can be.
    both.width = width > .max - other.width ? .max : width + other.width
    both.running += other.running
    both.waiting += other.waiting
    both.connections += other.connections
    both.pace = pace ?? other.pace
    both.quiet = [quiet, other.quiet].compactMap(\.self).max()
    // The worst stands first.
    both.health = NetworkEngine.Reachability.allCases.first { [health, other.health].contains($0) }
    return both
  }
}
