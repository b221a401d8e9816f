/// Opening a connection and sending nothing: the cheapest question that an origin can be asked. libcurl closes the
/// connection when the transfer ends.
extension Transfer {
  /// For a transfer that will do nothing else.
  func beginConnecting() {
    machine.handle(.begin(bytesMax: 0))
    parser.reset()
    handle.setConnectsOnly()
    handle.clearMessage()
    multi.add(handle)
  }

  /// Takes it off libcurl, done or not (no code), and answers why no connection came about; nil when one did.
  func endConnecting(code: Int32?) -> NetworkError? {
    let failure = end(code: code)
    return code == 0 ? nil : failure ?? NetworkError(.timedOut, reason: "connect")
  }
}
