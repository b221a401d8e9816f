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

  /// libcurl left it at that after all: then this was the answer, without its body.
  func takeLastLeg() {
    guard head == nil, let leg else { return }
    do throws(Failure) { try received(head: leg) } catch { machine.handle(.fail(error)) }
  }
}
