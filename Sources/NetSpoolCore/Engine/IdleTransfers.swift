/// An origin's transfers that wait for work, by credential scope: a handle is never moved to another.
///
/// A list, not a table: an origin nearly always has one scope, and this is asked for every request.
struct IdleTransfers {
  /// Kept ready per scope; more are dropped. An idle handle holds about 6 KB.
  static let perScopeMax = 64

  private struct Scope {
    let id: UInt64
    var transfers: [Transfer]
  }

  private var scopes: [Scope] = []

  mutating func take(scope id: UInt64) -> Transfer? {
    for index in scopes.indices where scopes[index].id == id { return scopes[index].transfers.popLast() }
    return nil
  }

  mutating func give(_ transfer: Transfer, scope id: UInt64) {
    for index in scopes.indices where scopes[index].id == id {
      if scopes[index].transfers.count < Self.perScopeMax { scopes[index].transfers.append(transfer) }
      return
    }
    scopes.append(Scope(id: id, transfers: [transfer]))
  }
}
