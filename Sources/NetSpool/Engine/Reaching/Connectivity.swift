/// A queue's knowledge of the network: the link, and the health of the origins that are asked about.
/// Watches from the first question on. Loop thread.
final class Connectivity {
  /// An engine that wants to know. Weak, because its queue lives as long as it does and this lives in the queue.
  private struct Listener {
    weak var engine: NetworkEngine?
    let watch: OriginWatch?
  }

  let context: LoopContext
  let origins: Origins
  private let pools: ConnectionPools
  /// Nil until something asks how the network is.
  private var monitor: LinkMonitor?
  /// Without it: the last look, for failures that the network may be to blame for.
  private var lastLook: (link: LinkState, at: Microseconds)?
  /// Looks at the network for stores of frozen requests, by their numbers, that are not over.
  var looks: [UInt64: Wait] = [:]
  // Safe because the loop thread alone has it, and a table calls nobody back.
  @safe @exclusivity(unchecked) private var watches: [OriginWatch.Key: OriginWatch] = [:]
  private var listeners: [UInt64: Listener] = [:]
  /// With so many, those of engines that are gone are looked for.
  private var listenersMax = 64
  /// Looks under way.
  var probing = 0
  private(set) var isClosed = false
  private var wasRouted = true

  /// The link is back.
  var onBack: () -> Void = {}

  init(_ context: LoopContext, _ origins: Origins, _ pools: ConnectionPools) {
    (self.context, self.origins, self.pools) = (context, origins, pools)
    watchLinkIfNeeded()
  }

  /// Watches from now on; false when the queue closes.
  @discardableResult
  func begin() -> Bool {
    context.loop.assertOnLoop()
    if monitor == nil, !context.isClosing {
      monitor = LinkMonitor(on: context.loop) { [unowned self] _ in linkChanged() }
      wasRouted = link.isRouted
      linkKindChanged()
    }
    return isWatching
  }

  var isWatching: Bool { monitor != nil && !isClosed }

  /// Only `byLink` must know the link; a queue that needs nothing of it pays nothing for it.
  func watchLinkIfNeeded() { if case .byLink = origins.settings.sizing { begin() } }

  private func linkKindChanged() { origins.link = link.kind == .local ? .local : .cellular }

  /// What counts: a link that came back counts only when it has held for a while.
  var link: LinkState { monitor?.settled ?? .assumed }
  /// What the kernel says now; while nothing watches, what it said less than a second ago.
  var linkNow: LinkState {
    if let monitor, !isClosed { return monitor.current }
    let now = MonotonicClock.now
    if let lastLook, now - lastLook.at < 1_000_000 { return lastLook.link }
    let link = LinkReading.now() ?? .assumed
    lastLook = (link, now)
    return link
  }

  /// The link that counts for engines that may use some interfaces only.
  func link(for watch: OriginWatch) -> LinkState { link.limited(to: watch.settings.way.interfaces) }

  func maySend(_ watch: OriginWatch) -> Bool {
    NetworkEngine.Reachability(link(for: watch), needsRoute: watch.needsRoute, health: watch.health.state)
      .maySend
  }

  private func linkChanged() {
    linkKindChanged()
    let isBack = link.isRouted && !wasRouted
    wasRouted = link.isRouted
    for watch in watches.values {
      if link(for: watch).isRouted { watch.backoff.reset() }
      // What a look has sent into the link that was is lost, and libcurl would wait for it.
      if isBack, watch.needsRoute { _ = takeProbe(watch, code: nil) }
      stopWaitingToProbe(watch)
      update(watch)
    }
    if isBack { onBack() }
    listeners = listeners.filter { $0.value.engine != nil }
    for listener in listeners.values { tell(listener) }
  }

  // MARK: Evidence

  /// What an exchange that has ended says about its origin.
  func note(_ operation: NetworkOperation, _ transfer: Transfer, _ failure: NetworkError?) {
    guard !watches.isEmpty, let origin = operation.loop.origin,
      let watch = watches[OriginWatch.Key(origin, operation.engine.handleSettings)]
    else { return }
    note(OriginEvidence(status: transfer.exchange.head?.status, failure: failure), watch)
  }

  /// What befalls every origin when there is no route says nothing about one of them.
  func note(_ evidence: OriginEvidence?, _ watch: OriginWatch) {
    let linkNow = linkNow.limited(to: watch.settings.way.interfaces)
    guard let evidence, !(evidence.isBeforeConnection && watch.needsRoute && !linkNow.isRouted) else {
      return
    }
    let before = watch.health.state
    watch.health.note(evidence, now: MonotonicClock.now)
    update(watch)
    if watch.health.state != before { tellListeners(of: watch) }
  }

  /// Looks at it again if that is of use, and wakes the operations that may send.
  func update(_ watch: OriginWatch) {
    if watch.health.wantsProbe {
      waitToProbe(watch)
    } else {
      watch.backoff.reset()
      stopWaitingToProbe(watch)
    }
    guard watch.isAwaited, hasRoute(to: watch) else { return }
    if maySend(watch) { context.letGo(watch.waiters) }
    context.letGo(watch.routeWaiters)
    forgetIfIdle(watch)
  }

  /// Forgets an origin that no engine or operation wants to know of any more.
  func forgetIfIdle(_ watch: OriginWatch) {
    guard !watch.isAwaited, watch.engines.isEmpty, watch.probe == nil, !watch.health.wantsProbe else {
      return
    }
    watches[watch.key] = nil
  }

  // MARK: Who wants to know

  /// An engine wants to know how its origin is, and to hear of changes.
  func add(_ engine: NetworkEngine) {
    guard begin(), listeners[engine.id] == nil else { return }
    forgetListeners()
    let origin = engine.home.flatMap { try? origins.find($0.text + "/").origin }
    let watch = origin.map { self.watch($0, engine.handleSettings) }
    watch?.engines.insert(engine.id)
    let listener = Listener(engine: engine, watch: watch)
    listeners[engine.id] = listener
    tell(listener)
  }

  /// Engines go without a word: what was kept for them goes once it has doubled.
  private func forgetListeners() {
    guard listeners.count >= listenersMax else { return }
    for (id, listener) in listeners where listener.engine == nil {
      listeners[id] = nil
      guard let watch = listener.watch else { continue }
      watch.engines.remove(id)
      if watch.engines.isEmpty, !watch.isAwaited, watch.probe == nil {
        stopWaitingToProbe(watch)
        watches[watch.key] = nil
      }
    }
    listenersMax = max(64, 2 * listeners.count)
  }

  func watch(_ origin: Origin, _ settings: HandleSettings) -> OriginWatch {
    let key = OriginWatch.Key(origin, settings)
    if let watch = watches[key] { return watch }
    let watch = OriginWatch(origin, settings)
    watches[key] = watch
    return watch
  }

  /// The watch, if this origin was asked for.
  func known(_ origin: Origin, _ settings: HandleSettings) -> OriginWatch? {
    watches[OriginWatch.Key(origin, settings)]
  }

  /// The worst of the ways to an origin that are watched; nil: none is.
  func health(of origin: OriginID) -> NetworkEngine.Reachability? {
    let ways = watches.values.filter { $0.key.origin == origin }.map {
      NetworkEngine.Reachability(link, needsRoute: $0.needsRoute, health: $0.health.state)
    }
    return NetworkEngine.Reachability.allCases.first { ways.contains($0) }  // the worst stands first
  }

  /// Forgets it when no engine or operation would hear of it any more; false then.
  func keep(_ watch: OriginWatch) -> Bool {
    for id in watch.engines where listeners[id]?.engine == nil {
      watch.engines.remove(id)
      listeners[id] = nil
    }
    if watch.engines.isEmpty, !watch.isAwaited {
      watches[watch.key] = nil
      return false
    }
    return true
  }

  private func tellListeners(of watch: OriginWatch) {
    for id in watch.engines {
      if let listener = listeners[id] { tell(listener) }
    }
  }

  private func tell(_ listener: Listener) {
    let link = link.limited(to: listener.engine?.interfaces)
    let (needsRoute, health) = (listener.watch?.needsRoute ?? true, listener.watch?.health.state)
    listener.engine?.note(NetworkEngine.Reachability(link, needsRoute: needsRoute, health: health))
  }

  // MARK: End

  func close() {
    guard !isClosed else { return }
    isClosed = true
    for watch in watches.values {
      stopWaitingToProbe(watch)
      if watch.probe != nil { _ = takeProbe(watch, code: nil) }
      for list in [watch.waiters, watch.routeWaiters] { _ = list.take(atMost: .max) }
    }
    (watches, listeners, looks) = ([:], [:], [:])
    monitor?.close()
  }
}

/// Looking at an origin that no request gets through to: a connection is opened, in the engine's own way, and nothing
/// is sent on it. At most one at a time for each origin, and only while an engine or an operation wants to know.
extension Connectivity {
  /// Looks under way at most, all origins together.
  private static let probingMax = 8
  /// A look that takes longer has failed.
  private static let probeMilliseconds: UInt64 = 10_000

  func waitToProbe(_ watch: OriginWatch) {
    guard !isClosed, watch.timer == nil, watch.probe == nil, hasRoute(to: watch) else { return }
    let seconds = watch.backoff.delay(random: .random(in: 0..<1))
    watch.timer = context.timers.after(milliseconds: UInt64(seconds * 1000)) { [unowned self] in
      watch.timer = nil
      probe(watch)
    }
  }

  func hasRoute(to watch: OriginWatch) -> Bool { !watch.needsRoute || link(for: watch).isRouted }

  /// A look that is under way goes on.
  func stopWaitingToProbe(_ watch: OriginWatch) {
    guard watch.probe == nil else { return }
    context.timers.cancel(watch.timer)
    watch.timer = nil
  }

  private func probe(_ watch: OriginWatch) {
    guard watch.health.wantsProbe, keep(watch), hasRoute(to: watch) else { return }
    guard probing < Self.probingMax, let transfer = makeProbe(watch) else { return waitToProbe(watch) }
    probing += 1
    watch.probe = transfer
    transfer.beginConnecting(for: watch)
    watch.timer = context.timers.after(milliseconds: Self.probeMilliseconds) { [unowned self] in
      watch.timer = nil
      end(watch, code: nil)
    }
  }

  private func makeProbe(_ watch: OriginWatch) -> Transfer? {
    let scope = HandleScope(engine: 0, streams: false)
    let transfer = try? Transfer(
      origin: watch.text, scope: scope, settings: watch.settings, multi: pools.common,
      shared: SharedState(keepsCookies: false))
    if let entry = watch.settings.way.entry(for: watch.text) { transfer?.tell(addresses: entry, version: 1) }
    if watch.needsRoute { transfer?.interface = watch.settings.way.interfaces?.best(of: linkNow) }
    return transfer
  }

  /// libcurl reported its end.
  func probed(_ transfer: Transfer, code: Int32?) {
    if let watch = transfer.exchange.owner as? OriginWatch { end(watch, code: code) }
  }

  private func end(_ watch: OriginWatch, code: Int32?) {
    let failure = takeProbe(watch, code: code)
    if failure != nil { watch.backoff.didFail() }
    note(failure.map { OriginEvidence(lookFailure: $0) } ?? .connected, watch)
    // What was blamed on the network, or says nothing, has not set the next look.
    update(watch)
  }

  /// Ends the look under way and answers why it failed.
  func takeProbe(_ watch: OriginWatch, code: Int32?) -> NetworkError? {
    guard let transfer = watch.probe else { return nil }
    context.timers.cancel(watch.timer)
    (watch.timer, watch.probe) = (nil, nil)
    probing -= 1
    let failure = transfer.endConnecting(code: code)
    transfer.reset()
    return failure
  }
}
