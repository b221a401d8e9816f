import NetSpoolTesting

extension Duration {
  /// How long a test waits for what must come before it fails: enough on a machine under load, where a process begins
  /// late, and less than CI lets a run take. It is no part of a promise.
  static let patience = Duration.seconds(300)
}

/// Waits until something is so that nobody announces; a test that meets the limit has failed.
func until(_ isTrue: () async -> Bool) async -> Bool {
  let end = ContinuousClock.now + .patience
  while await !isTrue() {
    guard ContinuousClock.now < end else { return false }
    await moment()
  }
  return true
}

/// The origin's own limits are those of somebody who waits at a terminal.
extension ScriptedOrigin {
  func waitForRequests(_ count: Int) async -> Bool { await waitForRequests(count, within: .patience) }

  @discardableResult
  func waitForHits(_ path: String, _ count: Int) async -> Bool {
    await waitForHits(path, count, within: .patience)
  }

  @discardableResult
  func waitForWaiting(_ gate: String, _ count: Int) async -> Bool {
    await waitForWaiting(gate, count, within: .patience)
  }

  func waitForOpenConnections(_ count: Int) async -> Bool {
    await waitForOpenConnections(count, within: .patience)
  }

  func blockForRequests(_ count: Int) -> Bool { blockForRequests(count, within: .patience) }

  func blockForWaiting(_ gate: String, _ count: Int) -> Bool {
    blockForWaiting(gate, count, within: .patience)
  }

  func takeRequest() async -> RecordedRequest? { await takeRequest(within: .patience) }
}
