/// Looking at an origin that nobody gets through to: a connection is opened, in the engine's own way, and nothing
/// is sent on it. At most one at a time for each origin, and only while somebody wants to know.
extension Connectivity {
  /// Looks under way at most, all origins together.
  private static let probingMax = 8
  /// A look that takes longer has failed.
  private static let probeMilliseconds: UInt64 = 10_000

  func waitToProbe(_ watch: OriginWatch) {
    guard !isClosed, watch.timer == nil, watch.probe == nil, hasRoute(to: watch) else { return }
    let seconds = watch.backoff.delay(random: .random(in: 0..<1, using: &random))
    watch.timer = core.timers.after(milliseconds: UInt64(seconds * 1000)) { [unowned self] in
      watch.timer = nil
      probe(watch)
    }
  }

  private func hasRoute(to watch: OriginWatch) -> Bool { !watch.needsRoute || link.isRouted }

  /// A look that is under way goes on.
  func stopWaitingToProbe(_ watch: OriginWatch) {
    guard watch.probe == nil else { return }
    core.timers.cancel(watch.timer)
    watch.timer = nil
  }

  private func probe(_ watch: OriginWatch) {
    guard watch.health.wantsProbe, isWanted(watch), hasRoute(to: watch) else { return }
    guard probing < Self.probingMax, let transfer = makeProbe(watch) else { return waitToProbe(watch) }
    probing += 1
    watch.probe = transfer
    transfer.beginConnecting(for: watch)
    watch.timer = core.timers.after(milliseconds: Self.probeMilliseconds) { [unowned self] in
      watch.timer = nil
      end(watch, code: nil)
    }
  }

  private func makeProbe(_ watch: OriginWatch) -> Transfer? {
    let scope = HandleScope(engine: 0, streams: false)
    return try? Transfer(
      origin: watch.text, scope: scope, settings: watch.settings, multi: core.pools.common,
      shared: SharedState(keepsCookies: false))
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
    core.timers.cancel(watch.timer)
    (watch.timer, watch.probe) = (nil, nil)
    probing -= 1
    let failure = transfer.endConnecting(code: code)
    transfer.reset()
    return failure
  }
}
