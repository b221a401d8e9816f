/// Rounds of authentication that libcurl goes through by itself, on one connection.
extension Transfer {
  /// Whether libcurl will answer this head instead of ending with it. NTLM has one such round: its challenge is
  /// the 401 that carries a token ([MS-NTHT] section 2.1). And a body is held back from the first request.
  func isLeg(_ head: ResponseHead) -> Bool {
    guard leg == nil else { return false }
    if head.status < 300, plan.source != nil, bytesSent == 0, bytesToSend != 0 { return true }
    if head.status == 407 { return proxyHasLegs }
    guard head.status == 401 else { return false }
    return AuthenticationChallenge.all(in: head.headers).contains { $0.scheme == "ntlm" && $0.token != nil }
  }

  /// libcurl begins another round although this head was the answer: it would ask a server that refuses without a
  /// challenge, or with ever new ones, until the heads have grown too long.
  static func endless(_ head: ResponseHead) -> NetworkError {
    head.status == 407
      ? NetworkError(.proxyFailed, reason: "authentication", underlying: .http(407), sendState: .answered)
      : NetworkError(.authenticationFailed, underlying: .http(head.status), sendState: .answered)
  }

  /// libcurl left it at that after all: then this was the answer, without its body.
  func takeLastLeg() {
    guard head == nil, let leg else { return }
    do throws(NetworkError) { try received(head: leg) } catch { machine.handle(.fail(error)) }
  }
}
