/// The multi handles of a queue: one that nearly all share, and one for each other reach of an engine, and for each
/// identity that connections are bound to. A connection that a client certificate or an NTLM login has opened is never
/// within reach of anybody else.
final class ConnectionPools {
  /// What connections are bound to.
  private struct Key: Hashable {
    var identity: UInt64
    /// The servers that its engine believes, and the way to them.
    var reach: AnswerScope.Reach
    /// Of an engine that has them for itself; 0: any.
    var engine: UInt64
    var connections: ConnectionChoice
  }

  /// With more, those in which nothing runs are closed.
  private static let countMax = 32

  /// libcurl 7.88 keeps an empty entry for each host whose connection made room for another's, and goes through all of
  /// them the next time. So a handle that has served so many gets a successor.
  private static let transfersMax = 1_024

  // Safe because `MultiHandle` asserts the loop thread wherever a pool is used, and lists and tables call nobody back.
  @safe @exclusivity(unchecked) private(set) var common: MultiHandle
  /// The reach of the common one: the first that came. Most queues see no other.
  private var commonReach: AnswerScope.Reach?
  private var own: [Key: MultiHandle] = [:]
  /// These, and those that have a successor, until what is under way on them has ended.
  @safe @exclusivity(unchecked) private var others: [MultiHandle] = []
  /// The cookies of engines that keep some, which outlive their connections.
  private var cookies: [UInt64: SharedState] = [:]

  /// Connections that the common one may always keep open.
  private let few: Int
  private let idleMax: Microseconds
  private let loop: EventLoop
  private let release: (MultiHandle) -> Void

  /// - Parameter release: drops the idle transfers of handles that are about to be closed.
  init(
    loop: EventLoop, loops: Int, idleMax: Microseconds, release: @escaping (MultiHandle) -> Void
  ) throws(NetworkError) {
    (self.loop, self.idleMax, self.release) = (loop, idleMax, release)
    few = KeptConnections.few(ofEach: loops)
    common = try MultiHandle(loop: loop, few: few, idleMax: idleMax)
  }

  func multi(
    for settings: HandleSettings, of scope: HandleScope, within reach: AnswerScope.Reach
  ) throws(NetworkError) -> MultiHandle {
    let key = Key(
      identity: settings.connectionIdentity, reach: reach,
      engine: settings.needsOwnConnections ? scope.engine : 0, connections: scope.connections)
    if key.identity == 0, key.engine == 0, key.connections == .shared(0), reach == commonReach ?? reach {
      commonReach = reach
      if isWorn(common) {
        let next = try MultiHandle(loop: loop, few: few, idleMax: idleMax)
        retire(common)
        others.append(common)
        common = next
      }
      return common
    }
    let old = own[key]
    if let old, !isWorn(old) { return old }
    if own.count >= Self.countMax { closeUnused() }
    let multi = try MultiHandle(
      loop: loop, few: KeptConnections.fewest, idleMax: idleMax,
      cookies: settings.keepsCookies ? cookies(of: scope.engine, settings) : nil)
    if let old = own.updateValue(multi, forKey: key) { retire(old) }
    others.append(multi)
    return multi
  }

  private func isWorn(_ multi: MultiHandle) -> Bool {
    multi.transfersMade >= Self.transfersMax && multi.wire == nil
  }

  private func retire(_ multi: MultiHandle) {
    multi.isRetired = true
    release(multi)
  }

  private func close(_ multi: MultiHandle) {
    multi.close()
    others.removeAll { $0 === multi }
  }

  private func closeUnused() {
    for (key, multi) in own where multi.isUnused {
      own[key] = nil
      retire(multi)  // what failed before it came there is used no more
      close(multi)
    }
  }

  /// Open connections by origin.
  func connections() -> [String: Int] {
    var counts = common.book.connections()
    for multi in others { counts.merge(multi.book.connections(), uniquingKeysWith: +) }
    return counts
  }

  /// The cookies of an engine, made with the first use: then they are those of its settings.
  func cookies(of engine: UInt64, _ settings: HandleSettings) -> SharedState {
    if let made = cookies[engine] { return made }
    let made = SharedState(keepsCookies: true)
    if !settings.cookieLines.isEmpty { made.addCookies(settings.cookieLines) }
    cookies[engine] = made
    return made
  }

  /// Forgets the cookies of an engine.
  func removeCookies(of engine: UInt64) { cookies[engine]?.removeCookies() }

  /// The engine is gone.
  func dropCookies(of engine: UInt64) { cookies[engine] = nil }

  /// The cookies of an engine, each as a line of a cookie file.
  func cookieLines(of engine: UInt64, _ settings: HandleSettings) -> [String] {
    cookies[engine]?.cookieLines ?? settings.cookieLines
  }

  /// The next transfer that ended, with libcurl's code.
  func nextDone() -> (Transfer, MultiHandle.CURLcodeValue)? {
    if let done = common.nextDone() { return done }
    if others.isEmpty { return nil }
    for multi in others {
      if let done = multi.nextDone() { return done }
    }
    return nil
  }

  /// True when libcurl was called, and transfers may have moved.
  func runIfDue() -> Bool {
    var hasRun = common.runIfDue()
    if others.isEmpty { return hasRun }
    for multi in others where multi.runIfDue() { hasRun = true }
    return hasRun
  }

  /// Lets those go on that were put off in the turn before.
  func resumePostponed(in turn: Turn) {
    common.resumePostponed(in: turn)
    if others.isEmpty { return }
    for multi in others {
      multi.resumePostponed(in: turn)
      if multi.isRetired, multi.isUnused { close(multi) }
    }
  }

  func close() {
    common.close()
    for multi in others { multi.close() }
  }
}

/// An origin's transfers that wait for work, by credential scope: a handle is never moved to another.
///
/// A list, not a table: an origin nearly always has one scope, and this is asked for every request.
struct IdleTransfers {
  /// Kept ready per scope; more are dropped. An idle handle holds about 6 KB.
  static let perScopeMax = 64

  /// Scopes remembered; then the oldest go. Credentials of single requests may be many.
  static let scopesMax = 32

  private struct Pool {
    let scope: HandleScope
    var transfers: [Transfer]
  }

  private var pools: [Pool] = []
  /// What the transfers on each multi handle share, idle or not.
  private var shares: [(multi: MultiHandle, state: SharedState)] = []

  mutating func shared(on multi: MultiHandle) -> SharedState {
    if let cookies = multi.cookies { return cookies }
    if let share = shares.first(where: { $0.multi === multi }) { return share.state }
    let state = SharedState(keepsCookies: false)
    shares.append((multi, state))
    return state
  }

  mutating func take(_ scope: HandleScope) -> Transfer? {
    for index in pools.indices where pools[index].scope == scope { return pools[index].transfers.popLast() }
    return nil
  }

  mutating func give(_ transfer: Transfer) {
    for index in pools.indices where pools[index].scope == transfer.scope {
      if pools[index].transfers.count < Self.perScopeMax { pools[index].transfers.append(transfer) }
      return
    }
    if pools.count >= Self.scopesMax { pools.removeFirst() }
    pools.append(Pool(scope: transfer.scope, transfers: [transfer]))
  }

  /// Drops the idle transfers of one multi handle, which is about to be closed.
  mutating func drop(of multi: MultiHandle) {
    pools.removeAll { pool in pool.transfers.contains { $0.multi === multi } }
    shares.removeAll { $0.multi === multi }
  }
}
