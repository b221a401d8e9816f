internal import Synchronization

/// Which loop of a queue has what. An origin lives on one of them, by its name alone; so equal requests meet there, and so do
/// all who share its width.
extension QueueDriver {
  /// With as many loops as the settings say and the process's descriptors allow.
  convenience init(_ settings: NetworkQueue.Configuration) {
    self.init(settings: settings, loops: settings.loops.count(descriptors: DescriptorRoom.limit))
  }

  func port(of loop: QueueLoop) -> LoopPort { LoopPort(driver: self, loop: loop) }

  /// Where requests of this engine for a URL go; the home loop for what leads nowhere. An engine that keeps cookies has one
  /// loop for all: libcurl's jar is no two threads'.
  func port(for url: String, of engine: NetworkEngine) -> LoopPort {
    port(of: loops[number(for: url, of: engine)])
  }

  func number(for url: String, of engine: NetworkEngine) -> Int {
    if isAlone { return 0 }
    if engine.handleSettings.keepsCookies { return Int(engine.id % UInt64(loops.count)) }
    if let length = PlainURL.canonicalOriginLength(url) {
      return number(of: url.utf8.span.extracting(first: length))
    }
    guard let pieces = try? URLParser.parse(url).pieces else { return 0 }
    return number(of: pieces.origin.text.utf8.span)
  }

  private func number(of origin: Span<UInt8>) -> Int {
    Int(Checksum.of(origin) % UInt64(loops.count))
  }

  /// Frozen requests keep the order in which they were enqueued whatever their origins: one loop hands them to the store.
  func number(for operation: NetworkOperation) -> Int {
    let request = operation.request
    return request.isFreezable ? home.number : number(for: request.url, of: operation.engine)
  }

  /// The thread that enqueues: the loop that will have it. One that the home loop has heard of comes there, and is sent on.
  func place(_ operation: NetworkOperation) -> LoopPort {
    operation.sweepsBefore.store(sweeps.latest, ordering: .relaxed)
    let number = number(for: operation)
    return operation.shared.withLock { shared in
      if shared.wasAddressed { return port(of: home) }
      operation.loopNumber.store(UInt8(number), ordering: .releasing)
      return port(of: loops[number])
    }
  }

  // MARK: All of them

  /// Runs a closure on the thread of each loop that has begun: the others know of nothing.
  func performEverywhere(of engine: UInt64? = nil, _ action: @escaping Action) {
    if isOfParent { return }
    for loop in loops where loop.isStarted { port(of: loop).perform(of: engine, action) }
  }

  /// The same; `done` comes when the last of them has, on any thread, at once where none has begun.
  func performEverywhere(
    of engine: UInt64? = nil, _ action: @escaping Action, done: @escaping @Sendable () -> Void
  ) {
    let countdown = Countdown(1, done)
    if !isOfParent {
      for loop in loops where loop.isStarted {
        countdown.add()
        let isAsked = port(of: loop).perform(of: engine) { core in
          action(core)
          countdown.signal()
        }
        if !isAsked { countdown.signal() }
      }
    }
    countdown.signal()
  }
}

extension NetworkOperation {
  /// The way to the loop that has it now. Any thread; by the time something arrives there it may have gone on to another.
  var port: LoopPort {
    let driver = engine.driver
    if driver.isAlone { return driver.port(of: driver.home) }
    shared.withLock { $0.wasAddressed = true }
    return driver.port(of: driver.loops[Int(loopNumber.load(ordering: .acquiring))])
  }

  /// Any thread: runs a closure on the loop that has it, behind everything that its engine has sent there before; without
  /// `inLine` behind everything.
  @discardableResult
  func perform(inLine: Bool = true, _ action: @escaping QueueDriver.Action) -> Bool {
    port.perform(of: inLine ? engine.id : nil) { [self] core in
      if core.port.has(self) { action(core) } else { perform(inLine: inLine, action) }
    }
  }
}

extension LoopPort {
  /// True for an operation that is this loop's, or on its way there: its own thread alone hands it on.
  func has(_ operation: NetworkOperation) -> Bool {
    driver.isAlone || operation.loopNumber.load(ordering: .acquiring) == UInt8(loop.number)
  }
}

extension QueueDriver {
  /// What all loops know, each at its own moment; calls back on the last of them, or at once where none has begun.
  func snapshot(_ done: @escaping @Sendable (NetworkQueue.Snapshot) -> Void) {
    let parts = Parts()
    performEverywhere {
      parts.origins.withLock { [snapshot = $0.snapshot()] in $0 += snapshot.origins }
    } done: { [self] in
      let busiest = parts.origins.withLock { $0 }.sorted { a, b in
        (a.running, a.waiting, b.origin) > (b.running, b.waiting, a.origin)
      }
      done(NetworkQueue.Snapshot(activity: activity, origins: busiest))
    }
  }

  private final class Parts: Sendable {
    let origins = Mutex<[NetworkQueue.OriginSnapshot]>([])
  }
}
