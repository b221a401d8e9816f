/// Gates: a test keeps a request waiting for as long as it needs, and needs no sleep.
extension ScriptedOrigin {
  /// Keeps requests to this path waiting, from now on, once they are read and recorded. Their answer is chosen
  /// when they are let go.
  public func hold(_ path: String) { state.changeGates { $0.hold(path) } }

  /// Opens a gate: lets those go that wait at this path, or at ``FaultAction/gate(_:)`` of this name, and stops
  /// none any more.
  public func release(_ name: String) { state.changeGates { $0.release(name) } }

  /// Lets `count` pass and keeps the gate closed for the others. Those that have not come yet count as well.
  public func release(_ name: String, count: Int) { state.changeGates { $0.release(name, count: count) } }

  /// Opens every gate that is held or waited at, and ends every stall.
  public func releaseAll() { state.changeGates { $0.releaseAll() } }

  /// How many requests wait at this path or gate.
  public func waitingCount(_ name: String) -> Int { state.waiting(at: name) }
}
