internal import Glibc

/// What libcurl's callbacks ask for: sockets, and the request's body.
extension Transfer {
  func openedSocket(_ descriptor: Int32, errno: Int32) {
    exchange.socketErrno = errno
    if exchange.dialedAt == 0 { exchange.dialedAt = MonotonicClock.now }
    exchange.isTunnelling = tunnels
    if descriptor >= 0 { multi.book.opening(descriptor, to: origin) }
    if isSecure || knowsHTTP2, descriptor >= 0 { multi.openedSecureSocket(descriptor) }
    onSocket(self)
  }

  /// Has the kernel send over this interface alone (SO_BINDTODEVICE of socket(7)). False: it does not, and the socket is closed.
  func bind(_ descriptor: Int32, to interface: String) -> Bool {
    let name = Array(interface.utf8)
    let bound = unsafe setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, name, socklen_t(name.count))
    if bound == 0 { return true }
    let code = errno
    close(descriptor)
    exchange.machine.handle(
      .fail(
        NetworkError(
          code == ENODEV ? .offline : .invalidConfiguration, reason: "allowedInterfaces: \(interface)",
          underlying: .errno(code))))
    return false
  }

  var hasEgressRule: Bool { egress.isRestricted }

  /// False stops a request that must not be sent twice, or not to this peer: the connection may be an old one.
  func mayStartSending(to peer: InternetAddress?, port: Int, localPort: Int) -> Bool {
    exchange.sends += 1
    exchange.isTunnelling = false
    if exchange.head == nil { exchange.leftAt = 0 }
    multi.didProgress()
    exchange.speaksHTTP2 = knowsHTTP2 || isSecure && handle.speaksHTTP2
    let isReused = handle.isOnReusedConnection
    if !isReused { multi.didConnect(localPort: localPort, servesOne: isSecure && !exchange.speaksHTTP2) }
    guard exchange.machine.failure == nil, !(isReused && meetsUnaskedBytes(localPort)) else { return false }
    if Quirks.hidesGivenUp, exchange.speaksHTTP2 {
      multi.givenUp.join(self, port: localPort, isReused: isReused)
    }
    if hasEgressRule {
      exchange.peer = peer.map { NetworkEngine.Egress.Address(internet: $0, port: port) }
      if !mayConnect(to: exchange.peer) { return false }
    }
    if !handle.hasProperCertificate {
      // libcurl would keep it for the next, over HTTP/2.
      handle.setEndsConnection(true)
      exchange.machine.handle(.fail(NetworkError(.tlsRejected, cause: .hostMismatch)))
      return false
    }
    // What the server has refused to begin with may go again, whatever it is (RFC 9113 section 8.7).
    let sendsAllowed = exchange.plan.refusesResend ? 1 + exchange.refusals : .max
    if !exchange.plan.hasRounds, exchange.sends > sendsAllowed { return false }
    guard isSecure || knowsHTTP2, !exchange.plan.hasRounds, exchange.sends > Self.sendsMax else {
      return true
    }
    // An origin that refuses every stream would be asked for ever (RFC 9113 section 7, ENHANCE_YOUR_CALM).
    exchange.machine.handle(.fail(NetworkError(.http2Failed, reason: "refused \(Self.sendsMax) times")))
    return false
  }

  /// Bytes stand on a reused connection of HTTP/1 before its next request is sent. They are no answer to it, and libcurl
  /// would take them for one (RFC 9112 section 9.2): the request goes on another connection. TLS may hold them already.
  private func meetsUnaskedBytes(_ localPort: Int) -> Bool {
    guard !exchange.speaksHTTP2 else { return false }
    guard multi.book.hasUnreadBytes(port: localPort) || isSecure && handle.hasUnreadTLS else { return false }
    exchange.hasMetUnaskedBytes = true
    exchange.machine.handle(.fail(NetworkError(.connectionLost, reason: "bytes that nobody asked for")))
    return true
  }

  /// libcurl repeats by itself what the origin has not begun to process; so often.
  static let sendsMax = 3

  /// False: nothing may go there. An address that cannot be read is none that may.
  func mayConnect(to peer: NetworkEngine.Egress.Address?) -> Bool {
    if let peer, egress.allows(peer) { return true }
    exchange.machine.handle(.fail(NetworkError(.egressDenied, reason: peer?.description)))
    return false
  }

  /// Nil ends the transfer.
  func fill(_ buffer: UnsafeMutableRawBufferPointer) -> BodyRead? {
    // libcurl asks for the first of the body when it has sent the head.
    if exchange.bytesSent == 0 { Failpoint.pass(.afterFirstByte) }
    do throws(NetworkError) {
      let read = unsafe try exchange.plan.source?.read(into: buffer) ?? .end
      if case .bytes(let count) = read {
        exchange.bytesSent += Int64(count)
        multi.didFill()
        lookAgainAfterHead()
      }
      #if DEBUG
      multi.takesLastByte = exchange.bytesSent == exchange.bytesToSend
      #endif
      return read
    } catch {
      exchange.machine.handle(.fail(error))
      return nil
    }
  }

  func rewindBody() -> Bool {
    guard let source = exchange.plan.source, source.canRewind else { return false }
    exchange.bytesSent = 0
    return (try? source.rewind()) != nil
  }
}

/// Opening a connection and sending nothing: the cheapest question that an origin can be asked. libcurl closes the
/// connection when the transfer ends.
extension Transfer {
  /// For a transfer that will do nothing else.
  func beginConnecting(for owner: AnyObject) {
    exchange = Exchange()
    exchange.owner = owner
    exchange.machine.handle(.begin(bytesMax: 0))
    parser.reset()
    handle.setConnectsOnly()
    handle.clearMessage()
    multi.add(self)
  }

  /// Takes it off libcurl, done or not (no code), and answers why no connection came about; nil when one did.
  func endConnecting(code: Int32?) -> NetworkError? {
    let failure = end(code: code).failure
    return code == 0 ? nil : failure ?? NetworkError(.timedOut, cause: .connect)
  }
}

/// Rounds of authentication that libcurl goes through by itself, on one connection.
extension Transfer {
  /// True if libcurl will answer this head instead of ending with it. NTLM has one such round: its challenge is
  /// the 401 that carries a token ([MS-NTHT] section 2.1). And a body is held back from the first request.
  func isAuthenticationRound(_ head: ResponseHead) -> Bool {
    guard exchange.roundHead == nil else { return false }
    let holdsBody = exchange.plan.source != nil && exchange.bytesSent == 0 && exchange.bytesToSend != 0
    if head.status < 300, holdsBody { return true }
    if head.status == 407 { return proxyHasRounds }
    guard head.status == 401 else { return false }
    return AuthenticationChallenge.all(in: head.headers).contains { $0.scheme == "ntlm" && $0.token != nil }
  }

  /// libcurl begins another round although this head was the answer: it would ask a server that refuses without a
  /// challenge, or with ever new ones, until the heads have grown too long.
  static func endless(_ head: ResponseHead) -> NetworkError {
    head.status == 407
      ? NetworkError(.proxyFailed, cause: .authentication, underlying: .http(407), sendState: .answered)
      : NetworkError(.authenticationFailed, underlying: .http(head.status), sendState: .answered)
  }

  /// libcurl left it at that after all: then this was the answer, without its body.
  func takeLastRound() {
    guard exchange.head == nil, let round = exchange.roundHead else { return }
    do throws(NetworkError) { try received(head: round) } catch { exchange.machine.handle(.fail(error)) }
  }
}
