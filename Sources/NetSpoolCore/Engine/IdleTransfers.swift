/// An origin's transfers that wait for work, by credential scope: a handle is never moved to another.
///
/// A list, not a table: an origin nearly always has one scope, and this is asked for every request.
struct IdleTransfers {
  /// Kept ready per scope; more are dropped. An idle handle holds about 6 KB.
  static let perScopeMax = 64

  private struct Pool {
    let scope: HandleScope
    var transfers: [Transfer]
  }

  private var pools: [Pool] = []

  mutating func take(_ scope: HandleScope) -> Transfer? {
    for index in pools.indices where pools[index].scope == scope { return pools[index].transfers.popLast() }
    return nil
  }

  mutating func give(_ transfer: Transfer) {
    for index in pools.indices where pools[index].scope == transfer.scope {
      if pools[index].transfers.count < Self.perScopeMax { pools[index].transfers.append(transfer) }
      return
    }
    pools.append(Pool(scope: transfer.scope, transfers: [transfer]))
  }
}
