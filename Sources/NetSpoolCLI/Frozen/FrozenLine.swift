import NetSpool

/// The order in which requests leave: one of a lane at a time, and none before its turn. Pure.
enum FrozenLine {
  /// Those that will be sent when only requests that `maySend` says so are; the others, with the one that each waits for, which
  /// is itself when it may not be sent.
  static func split(
    _ requests: [FrozenOperation], _ maySend: (FrozenOperation) -> Bool
  ) -> (ready: [FrozenOperation], held: [(request: FrozenOperation, behind: FrozenOperation)]) {
    var heads: [String: FrozenOperation] = [:]
    var ready: [FrozenOperation] = []
    var held: [(request: FrozenOperation, behind: FrozenOperation)] = []
    for request in requests {
      if heads[request.lane] == nil, !maySend(request) { heads[request.lane] = request }
      if let head = heads[request.lane] { held.append((request, head)) } else { ready.append(request) }
    }
    return (ready, held)
  }
}
