/// The multi handles of a queue: one that all share, and one for each identity that connections are bound to. A
/// connection that a client certificate or an NTLM login has opened is never within reach of anybody else.
struct ConnectionPools {
  /// What connections are bound to.
  private struct Key: Hashable {
    var identity: UInt64
    /// Of engines whose connections are judged by rules of their own; 0: any.
    var engine: UInt64
  }

  /// With more, those in which nothing runs are closed.
  private static let countMax = 32

  let common: MultiHandle
  private var own: [Key: MultiHandle] = [:]

  init(loop: EventLoop) throws(NetworkError) { common = try MultiHandle(loop: loop) }

  /// `letGo` drops the idle transfers of handles that are about to be closed.
  mutating func multi(
    for settings: HandleSettings, of scope: HandleScope, loop: EventLoop, letGo: (MultiHandle) -> Void
  ) throws(NetworkError) -> MultiHandle {
    let key = Key(
      identity: settings.connectionIdentity, engine: settings.needsOwnConnections ? scope.engine : 0)
    if key.identity == 0, key.engine == 0 { return common }
    if let multi = own[key] { return multi }
    if own.count >= Self.countMax { closeUnused(letGo) }
    let multi = try MultiHandle(loop: loop, keepsCookies: settings.keepsCookies)
    own[key] = multi
    return multi
  }

  private mutating func closeUnused(_ letGo: (MultiHandle) -> Void) {
    for (key, multi) in own where multi.isUnused {
      own[key] = nil
      letGo(multi)
      multi.close()
    }
  }

  /// Forgets the cookies of an engine.
  func removeCookies(of engine: UInt64) {
    for (key, multi) in own where key.engine == engine { multi.cookies?.removeCookies() }
  }

  /// The next transfer that ended, with libcurl's code.
  func nextDone() -> (Transfer, MultiHandle.CURLcodeValue)? {
    if let done = common.nextDone() { return done }
    if own.isEmpty { return nil }
    for multi in own.values {
      if let done = multi.nextDone() { return done }
    }
    return nil
  }

  /// True when libcurl was called, and transfers may have moved.
  func runIfDue() -> Bool {
    var hasRun = common.runIfDue()
    if own.isEmpty { return hasRun }
    for multi in own.values where multi.runIfDue() { hasRun = true }
    return hasRun
  }

  /// Lets those go on that were put off in the turn before.
  func resumePostponed() {
    common.resumePostponed()
    for multi in own.values { multi.resumePostponed() }
  }

  func close() {
    common.close()
    for multi in own.values { multi.close() }
  }
}
