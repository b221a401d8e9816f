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

  /// Those of one multi handle, which is about to be closed.
  mutating func drop(of multi: MultiHandle) {
    pools.removeAll { pool in pool.transfers.contains { $0.multi === multi } }
    shares.removeAll { $0.multi === multi }
  }
}
