internal import CNetSpoolShims

/// Runs one HTTP exchange at a time on one easy handle, for one origin and scope; used again for the next.
///
/// Its callbacks come from libcurl in the middle of its work, so they only parse, count, hand bytes on and
/// note what went wrong. What follows from it is decided when the transfer is reported done.
final class Transfer {
  enum Intake { case taken, pause, abort }

  let multi: MultiHandle
  let egress: NetworkEngine.Egress
  /// libcurl answers a proxy's challenge.
  let proxyHasRounds: Bool
  let usesProxy: Bool
  /// A proxy is asked by CONNECT to pass bytes on.
  let tunnels: Bool
  /// A proxy passes requests on, so that one connection serves several hosts. libcurl would mix up their `Host`.
  let namesHost: Bool
  /// `scheme://host[:port]`
  let origin: String
  let isSecure: Bool
  /// HTTP/2 without TLS to agree on it.
  let knowsHTTP2: Bool
  let scope: HandleScope
  let connectionIdentity: UInt64
  var handle: EasyHandle!
  // Safe because the loop thread alone comes here, as `MultiHandle.add` and `Scheduler.move` make sure, and because these
  // are values whose methods call nobody back. Each line of a head asks for both.
  /// Keeps its buffers from one exchange to the next.
  @safe @exclusivity(unchecked) var parser = HeaderParser()
  /// The one under way, and what is left of it until the transfer is reset.
  @safe @exclusivity(unchecked) var exchange = Exchange()
  /// The interface that sockets to others are bound to; nil: any.
  var interface: String?
  /// libcurl is handing over a piece of the body.
  var isReading = false
  private var pausedOn: Int?
  /// libcurl holds the lines of a plain GET of this scope.
  var hasDefaultHeaders = false

  /// Asked once, when the final head has come: who gets the body, and what follows the exchange if it is not the answer.
  var onHead: (Transfer, ResponseHead) -> (use: BodyUse, next: Exchange.Next?) = { _, _ in (.collect, nil) }
  /// An informational answer has come before it.
  var onInformational: (Transfer, ResponseHead) -> Void = { _, _ in }
  /// Its streams take no more for now.
  var onStall: () -> Void = {}
  /// The body is longer than may be kept in memory, and goes to its streams alone. In the middle of libcurl's work.
  var onTooLong: (Transfer) -> Void = { _ in }
  /// Its connection has given nothing for as long as it waited, and may be dead.
  var onSilence: (Transfer) -> Void = { _ in }
  /// The name is resolved: a socket is being opened.
  var onSocket: (Transfer) -> Void = { _ in }

  init(
    origin: String, scope: HandleScope, settings: HandleSettings, multi: MultiHandle, shared: SharedState
  ) throws(NetworkError) {
    self.origin = origin
    self.scope = scope
    connectionIdentity = settings.connectionIdentity
    self.multi = multi
    multi.transfersMade += 1
    egress = settings.egress
    isSecure = origin.hasPrefix("https:")
    knowsHTTP2 = !isSecure && settings.mayBeHTTP2(isSecure: false)
    let proxy = settings.proxy(isSecure: isSecure)
    proxyHasRounds = proxy?.hasRounds ?? false
    usesProxy = proxy != nil
    tunnels = isSecure && proxy?.isHTTP == true
    namesHost = !isSecure && proxy?.isHTTP == true
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    handle = unsafe try EasyHandle(
      origin: origin, settings: settings, context: context, closing: multi.closingContext,
      shared: shared, servesOnce: scope.connections == .own)
  }

  /// Where an exchange has authentication rounds, a head cannot be told from a body before libcurl has read it.
  var mayServeAgain: Bool { !Quirks.keepsFreedField || !exchange.plan.hasRounds }

  /// The addresses of the origin's name, as CURLOPT_RESOLVE has them, for the next exchange and those that share with it.
  func tell(addresses: @autoclosure () -> String, version: Int) {
    handle.setAddresses(addresses(), version: version)
  }

  /// Starts the exchange whose plan is made. Its source must be open. One that is failing already ends with the next look
  /// at it.
  func begin(
    for owner: AnyObject, fanout: SinkFanout?, now: Microseconds, failing failure: NetworkError? = nil
  ) {
    exchange.begin(for: owner, fanout: fanout, now: now)
    if proxyHasRounds { exchange.plan.hasRounds = true }
    exchange.machine.handle(.begin(bytesMax: .max))
    parser.reset()
    parser.allowsAnotherHead = exchange.plan.hasRounds
    let failure = failure ?? tellLibcurl()
    exchange.wasAdded = failure == nil
    if let failure { exchange.machine.handle(.fail(failure)) } else { multi.add(self) }
  }

  private func tellLibcurl() -> NetworkError? {
    guard handle.setTarget(of: exchange.plan.url, from: exchange.plan.targetOffset) else {
      return NetworkError(.invalidURL)
    }
    let method = exchange.plan.method
    handle.setShape(
      EasyHandle.Shape(
        method: method,
        bodyBytes: exchange.plan.source.map { $0.length ?? -1 } ?? (method.expectsBody ? 0 : nil),
        needsFreshConnection: exchange.plan.needsFreshConnection,
        showsHead: Quirks.keepsFreedField && !exchange.plan.hasRounds))
    handle.expectHead(true)
    if let lines = exchange.plan.headerLines { handle.setHeaders(lines) }
    handle.clearMessage()
    handle.setEndsConnection(false)
    exchange.tells = exchange.plan.onWire != nil || asksWhatWasProcessed
    if exchange.tells { handle.setTells(true) }
    return nil
  }

  /// Takes the exchange off libcurl, done or not, and answers how it went, and what its head has decided to follow. The transfer
  /// is idle afterwards.
  @discardableResult
  func end(code: Int32?) -> (failure: NetworkError?, next: Exchange.Next?) {
    guard exchange.wasAdded else { return (endUnsent(), nil) }
    let isCutOff = code ?? 0 != 0 && multi.wasCutOff(localPort: handle.localPort)
    if exchange.speaksHTTP2, code == nil { judgeConnection() }
    let isGivenUp = code == 0 && exchange.sharedPort.map { multi.isGivenUp(port: $0) } == true && mayBeGivenUp
    if isGivenUp { exchange.machine.handle(.fail(Self.givenUp(after: bodyBytes))) }
    leaveShared()
    multi.remove(self)
    multi.forget(self)
    exchange.isUnprocessed = code.map { $0 != 0 && isUnprocessed(code: $0) } ?? false
    exchange.plan.onWire?(handle.connection)
    if exchange.tells { handle.setTells(false) }
    exchange.tells = false
    if isCutOff { exchange.machine.handle(.fail(NetworkError(.http2Failed, cause: .flood))) }
    if code == 0 { takeLastRound() }
    if code == 0, exchange.head != nil { Failpoint.pass(.afterResponseBody) }
    exchange.plan.source.take()?.close()
    let failure = code.flatMap { verdict(code: $0) } ?? exchange.machine.failure.map { sent($0) }
    #if Tracing
    exchange.plan.onEnd?(exchange.head, failure)
    #endif
    exchange.machine.handle(.done)
    return (failure, exchange.next.take())
  }

  /// It is ended by us, without an answer. Its connection may be dead, which only the kernel would find out, minutes later: so
  /// who is the last on it closes it, and others come to it only if it has given something meanwhile.
  private func judgeConnection() {
    let isLate = exchange.machine.failure?.code == .timedOut
    if isLate { handle.setEndsConnection(true) }
    let waited = MonotonicClock.now - exchange.startedAt
    let silenceMin = isLate ? min(waited / 2, Self.silenceMin) : Self.silenceMin
    guard waited >= silenceMin, exchange.pauses.isEmpty else { return }
    guard multi.silence(localPort: handle.localPort) >= silenceMin else { return }
    handle.setEndsConnection(true)
    onSilence(self)
  }

  /// A request that is given up before has not waited for long.
  private static let silenceMin: Microseconds = 1_000_000

  /// libcurl never heard of it.
  private func endUnsent() -> NetworkError? {
    exchange.plan.source.take()?.close()
    defer { exchange.machine.handle(.done) }
    return exchange.machine.failure
  }

  /// Gives up everything that belongs to the exchange that ended.
  func reset() {
    exchange = Exchange()
    notePause()
  }

  /// Closes the exchange from our side: the next event of libcurl ends it.
  func fail(_ failure: NetworkError) { exchange.machine.handle(.fail(failure)) }

  var bodyBytes: Int64 { exchange.machine.bodyBytes }

  var hasBodyToSend: Bool { exchange.plan.source != nil }

  /// Nil until the head is known.
  var bodyUse: BodyUse? {
    if case .receiving(let use) = exchange.machine.state { use } else { nil }
  }

  /// Another operation wants the body that is already coming: its sinks get what was kept so far, then follow.
  func widen(streamsOf id: UInt64) {
    guard let head = exchange.head, let fanout = exchange.fanout else { return }
    exchange.machine.handle(.widen(bytesMax: exchange.plan.limits.bodyBytesStreamedMax))
    exchange.hasStreamed = true
    fanout.open(head, bytesExpected: exchange.bytesExpected, only: id)
    exchange.isLive = isLive(head)
    if let kept = wholeBeginning { fanout.write(kept.rawBytes, only: id) }
  }

  /// All bytes of the body that have come are still there, for one who comes late.
  var hasWholeBeginning: Bool { bodyUse == nil || wholeBeginning != nil }

  private var wholeBeginning: [UInt8]? {
    bodyUse?.collects == true ? exchange.collected : exchange.spool?.wholeBeginning
  }

  /// Another operation wants the body in memory, and came while it was only kept. False when it is too long for that.
  func collectFromNow() -> Bool {
    guard let use = bodyUse, !use.collects else { return true }
    guard let kept = wholeBeginning else { return false }
    let limit = Int64(exchange.plan.limits.bodyBytesInMemoryMax)
    guard max(bodyBytes, announcedBytes ?? 0) <= limit else { return false }
    exchange.machine.handle(.collect(bytesMax: limit))
    exchange.collected = kept
    return true
  }

  var url: String { exchange.plan.url }

  /// The length that the head announced, encoded or not.
  var announcedBytes: Int64? { parser.framing.contentLength }

  func takeCollected() -> [UInt8] {
    defer { exchange.collected = [] }
    return exchange.collected
  }

  // MARK: Time

  func expired(now: Microseconds) -> NetworkError? {
    let progress = Deadlines.Progress(
      isConnected: exchange.wasAdded && exchange.head != nil || exchange.bytesSent > 0 || handle.isConnected,
      hasHead: exchange.head != nil, bytes: bodyBytes + exchange.bytesSent, isPaused: isPausedByUser,
      waitsForReader: isPausedByReader, isLive: exchange.isLive)
    guard let cause = exchange.deadlines?.check(progress, now: now) else { return nil }
    let isProxys = cause == .connect && exchange.isTunnelling && exchange.tunnel.isUnderWay
    return NetworkError(isProxys ? .proxyFailed : .timedOut, cause: cause)
  }

  /// True if it has no connection yet.
  var isConnecting: Bool {
    exchange.wasAdded && exchange.head == nil && exchange.bytesSent == 0 && !handle.isConnected
  }

  /// How long it has been trying to reach an address that does not answer; nil: it is connected, or others see to that.
  func dialTime(now: Microseconds) -> Microseconds? {
    guard exchange.dialedAt > 0, isConnecting, handle.connectTime == 0 else { return nil }
    return now - exchange.dialedAt
  }

  /// True if it has waited so long for its head and has nothing left to send.
  func isSilent(for time: Microseconds, now: Microseconds) -> Bool {
    exchange.head == nil && exchange.plan.source == nil && !exchange.hasYielded
      && now - exchange.startedAt >= time
  }

  /// True if it has been under way for longer than a short exchange takes, and has its place still.
  func mayLendPlace(now: Microseconds) -> Bool {
    !exchange.standsAside && !exchange.hasYielded && now - exchange.startedAt >= 20_000
  }

  /// True when the head has decided, and the rest of the body has taken more than a round trip: it may never end.
  func dawdles(now: Microseconds) -> Bool {
    exchange.leftAt > 0 && exchange.pauses.isEmpty
      && now - exchange.leftAt > multi.roundTrip(localPort: handle.localPort)
  }

  /// Gives up the rest of a body that the head has made needless. In a round of authentication libcurl goes on by itself, when
  /// the connection has ended; true: the exchange is over.
  func leaveBody() -> Bool {
    guard exchange.head != nil else {
      exchange.leftAt = 0
      multi.shutDown(localPort: handle.localPort)
      return false
    }
    fail(NetworkError(.bodyTruncated, reason: "given up", sendState: .answered))
    return true
  }

  // MARK: Pausing

  var isPausedByUser: Bool { exchange.pauses.contains(.user) }
  var isPausedByReader: Bool { exchange.pauses.contains(.reader) }
  /// The same, but not by its spool, which gives up by itself.
  var waitsForOwner: Bool { isPausedByReader && exchange.fanout?.waitsForOwner != false }

  func pause(_ reason: Exchange.Pauses) {
    exchange.pauses.insert(reason)
    notePause()
  }

  private func resume(_ reason: Exchange.Pauses) {
    exchange.pauses.remove(reason)
    notePause()
    goOn()
  }

  private func notePause() {
    let isPaused = !exchange.pauses.isEmpty
    guard isPaused != (pausedOn != nil) else { return }
    if isPaused {
      let port = exchange.speaksHTTP2 ? handle.localPort : 0
      multi.didPause(localPort: port, by: 1)
      pausedOn = port
    } else if let port = pausedOn {
      multi.didPause(localPort: port, by: -1)
      pausedOn = nil
    }
  }

  func pauseByUser() {
    _ = expired(now: MonotonicClock.now)  // nobody looks at it while it is paused: up to here its time counts
    pause(.user)
    handle.pause()
  }

  func resumeByUser() {
    _ = expired(now: MonotonicClock.now)  // and what has passed since does not
    resume(.user)
  }

  /// The slow sink caught up.
  func resumeByReader() {
    guard isPausedByReader, !isReading else { return }
    exchange.looksPaused = 0
    resume(.reader)
  }

  /// The others had their turn. libcurl looks at its connection only where it stood still before.
  func resumeByTurn() {
    handle.pause()
    resume(.turn)
  }

  /// The source has bytes again.
  func resumeSending() { goOn() }

  /// Has libcurl go on unless there is another reason to wait. It may hand over at once what it had kept, and tells no
  /// transfer what comes of that; so a failure is told here.
  private func goOn() {
    guard exchange.pauses.isEmpty else { return }
    let code = multi.resume(self)
    guard code != 0 || exchange.machine.failure != nil, exchange.machine.state != .idle else { return }
    multi.didBreak(self, code: code != 0 ? code : MultiHandle.writeFailed)
  }
}
