internal import CNetSpoolShims

/// What libcurl's code means, once everything that we saw ourselves is put beside it.
extension Transfer {
  /// Nil: a whole answer. libcurl calls cut-off heads and cut-off compressed bodies a success; they are not.
  func verdict(code: Int32) -> NetworkError? {
    if let failure = machine.failure { return sent(failure) }
    if code == 0 { return incomplete() }
    let info = handle.info()
    return FailureMapping.failure(
      FailureMapping.Evidence(
        code: code, message: handle.message, errno: socketErrno != 0 ? socketErrno : Int32(info.os_errno),
        socketRefused: socketErrno != 0, isConnected: handle.isConnected || bytesSent > 0 || head != nil,
        isReused: info.new_connections == 0, hasHeadBegun: parser.hasBegun, hasHead: head != nil,
        resendRefused: sends > 1, verifyResult: handle.verifyResult, usesProxy: usesProxy,
        bytes: machine.bodyBytes, bytesExpected: bytesExpected))
  }

  private func incomplete() -> NetworkError? {
    guard head != nil else { return NetworkError(.truncatedHeaders, sendState: .maybeProcessed) }
    do throws(NetworkError) {
      try decoder?.finish()
      return nil
    } catch {
      return sent(error)
    }
  }

  func sent(_ failure: NetworkError) -> NetworkError {
    guard failure.sendState == .notSent else { return failure }
    var failure = failure
    failure.sendState = sendState
    return failure
  }

  /// How far it has come.
  var sendState: NetworkError.SendState {
    head != nil ? .answered : handle.isConnected ? .maybeProcessed : .notSent
  }

  /// How the end of the body was known.
  var framing: BodyFraming {
    guard let head else { return .untilClose }
    let framing = parser.framing.body(status: head.status, version: head.version, method: plan.method)
    // Where nghttp2 gives a connection up because of its peer's mistakes, libcurl 7.88 takes what had come for the
    // whole. A connection that the origin has said goodbye on looks the same.
    return framing == .stream && tookConnectionAlong ? .untilClose : framing
  }

  /// The trailer fields, known at the end.
  var trailers: Headers { parser.trailers }

  func metrics() -> NetworkResponse.Metrics {
    let info = handle.info()
    var metrics = NetworkResponse.Metrics()
    metrics.nameLookupTime = info.name_lookup
    metrics.connectTime = max(0, info.connect - info.name_lookup)
    metrics.tlsHandshakeTime = max(0, info.app_connect - info.connect)
    metrics.firstByteTime = info.first_byte
    metrics.totalTime = info.total
    metrics.bytesReceived = info.bytes_received
    metrics.bytesSent = info.bytes_sent
    metrics.connectionReused = info.new_connections == 0
    return metrics
  }
}
