/// What libcurl's callbacks ask for: sockets, and the request's body.
extension Transfer {
  func openedSocket(errno: Int32) {
    socketErrno = errno
    onSocket(self)
  }

  var hasEgressRule: Bool { egress.isRestricted }

  /// False stops a request that must not be sent twice, or not to this peer: the connection may be an old one.
  func mayStartSending(to peer: InternetAddress?, port: Int) -> Bool {
    sends += 1
    guard machine.failure == nil else { return false }
    if hasEgressRule, !mayConnect(to: peer.map { ($0, port: port) }) { return false }
    if !handle.hasProperCertificate {
      machine.handle(.fail(NetworkError(.tlsRejected, reason: "hostMismatch")))
      return false
    }
    if plan.refusesResend, !plan.hasLegs { return sends == 1 }
    guard sends > Self.sendsMax else { return true }
    // An origin that refuses every stream would be asked for ever (RFC 9113 section 7, ENHANCE_YOUR_CALM).
    machine.handle(.fail(NetworkError(.http2Failed, reason: "refused \(Self.sendsMax) times")))
    return false
  }

  /// libcurl repeats by itself what the origin has not begun to process; so often.
  static let sendsMax = 3

  /// False: nothing may go there. An address that cannot be read is none that may.
  func mayConnect(to peer: (InternetAddress, port: Int)?) -> Bool {
    if let peer, egress.allows(peer.0, port: peer.port) { return true }
    machine.handle(.fail(NetworkError(.egressDenied, reason: peer?.0.text)))
    return false
  }

  /// Nil ends the transfer.
  func fill(_ buffer: UnsafeMutableRawBufferPointer) -> BodyRead? {
    // libcurl asks for the first of the body when it has sent the head.
    if bytesSent == 0 { Failpoint.pass(.afterFirstByte) }
    do throws(NetworkError) {
      let read = unsafe try plan.source?.read(into: buffer) ?? .end
      if case .bytes(let count) = read { bytesSent += Int64(count) }
      #if DEBUG
      multi.takesLastByte = bytesSent == bytesToSend
      #endif
      return read
    } catch {
      machine.handle(.fail(error))
      return nil
    }
  }

  func rewindBody() -> Bool {
    guard let source = plan.source, source.canRewind else { return false }
    bytesSent = 0
    return (try? source.rewind()) != nil
  }
}
