internal import CNetSpoolShims

/// One HTTP exchange at a time on one easy handle, for one origin and scope; used again for the next.
///
/// Its callbacks come from libcurl in the middle of its work, so they only parse, count, hand bytes on and
/// note what went wrong. What follows from it is decided when the transfer is reported done.
final class Transfer {
  enum Intake { case taken, pause, abort }

  /// What one exchange is given.
  struct Plan {
    /// A canonical URL, and where its path begins.
    var url: String
    var targetOffset: Int
    var method: Method = .get
    /// Lines for the request; nil keeps those of the last exchange.
    var headerLines: [String]?
    var source: (any BodySource)?
    /// libcurl must not send it a second time by itself.
    var refusesResend = false
    var needsFreshConnection = false
    /// libcurl authenticates in several rounds of its own.
    var hasRounds = false
    var decodes = true
    var timeouts = NetworkRequest.Timeouts.standard
    var limits = NetworkEngine.Limits.standard

    init(url: String) {
      self.url = url
      targetOffset = PlainURL.targetOffset(url)
    }
  }

  let multi: MultiHandle
  let egress: NetworkEngine.Egress
  /// libcurl answers a proxy's challenge.
  let proxyHasRounds: Bool
  let usesProxy: Bool
  let isSecure: Bool
  let scope: HandleScope
  var handle: EasyHandle!
  var machine = TransferStateMachine()
  var parser = HeaderParser()
  var plan = Plan(url: "")
  var deadlines: Deadlines?
  var decoder: ContentDecoder?
  /// A chunked body's, while it comes.
  var chunks: ChunkedBody?
  /// On the connection that the request was sent on.
  var speaksHTTP2 = false
  /// The connection had something to say before it was asked.
  var hasMetUnaskedBytes = false
  /// How often the request was about to be sent on a connection.
  var sends = 0
  var socketErrno: Int32 = 0
  var isPausedByReader = false { didSet { notePause() } }
  /// Others want their turn.
  var isPausedByTurn = false { didSet { notePause() } }
  var isReading = false
  /// libcurl has closed the connection together with the exchange.
  var tookConnectionAlong = false
  /// libcurl has the exchange, or had it.
  var wasAdded = true
  /// libcurl was asked for bytes behind the answer.
  var tellsOfExcess = false
  /// A head line came in pieces, and its end is still to come.
  var isInsideHeadLine = false
  /// A refusal that libcurl is about to answer by itself.
  var roundHead: ResponseHead?

  var head: ResponseHead?
  var bytesSent: Int64 = 0
  /// The body, when somebody wants it in memory.
  var collected: [UInt8] = []
  var fanout: SinkFanout?
  var isPausedByUser = false { didSet { notePause() } }
  private var isCountedAsPaused = false
  var bytesToSend: Int64?
  /// The expected body length, from the head; nil when unknown or encoded.
  var bytesExpected: Int64?

  /// Asked once, when the final head has come: who gets the body.
  var onHead: (Transfer, ResponseHead) -> BodyUse = { _, _ in .collect }
  /// Its streams take no more for now.
  var onStall: () -> Void = {}
  /// The name is resolved: a socket is being opened.
  var onSocket: (Transfer) -> Void = { _ in }
  /// Whom it works for; the engine's, for its own bookkeeping.
  var owner: AnyObject?
  /// What the cache alone wants kept of the body, in bytes.
  var keptBytesMax = 0
  /// The bytes kept for the cache; nil when the body was collected for a response, or not at all.
  var keptBody: [UInt8]? {
    keptBytesMax > 0 && machine.bodyBytes <= keptBytesMax ? collected : nil
  }
  /// The length that the head announced, encoded or not.
  var announcedBytes: Int64? { parser.framing.contentLength }
  /// The engine's place for it among the running ones.
  var slot = -1
  /// It only waits for its streams: another has its place.
  var hasYielded = false
  /// Its origin's width learns from how it goes.
  var isJudged = true
  /// How often its streams were seen to take nothing, one look after the other.
  var looksPaused = 0
  /// The engine's notes for time limits and progress.
  var startedAt: Microseconds = 0
  var reportedBytes: Int64 = 0
  var reportedSent: Int64 = 0
  /// libcurl holds the lines of a plain GET of this scope.
  var hasDefaultHeaders = false

  init(
    origin: String, scope: HandleScope, settings: HandleSettings, multi: MultiHandle, shared: SharedState
  ) throws(NetworkError) {
    self.scope = scope
    self.multi = multi
    egress = settings.egress
    isSecure = origin.hasPrefix("https:")
    let proxy = settings.proxy(isSecure: isSecure)
    proxyHasRounds = proxy?.hasRounds ?? false
    usesProxy = proxy != nil
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    handle = unsafe try EasyHandle(
      origin: origin, settings: settings, context: context, closing: multi.closingContext,
      shared: shared)
  }

  /// Where an exchange has authentication rounds, a head cannot be told from a body before libcurl has read it.
  var mayServeAgain: Bool { !LoadedCurl.keepsFreedField || !plan.hasRounds }

  /// The addresses of the origin's name, as CURLOPT_RESOLVE has them, for the next exchange and those that share with it.
  func tell(addresses: String, version: Int) { handle.setAddresses(addresses, version: version) }

  /// Starts an exchange. The source must be open. One that is failing already ends with the next look at it.
  func begin(_ plan: Plan, now: Microseconds, failing failure: NetworkError? = nil) {
    self.plan = plan
    if proxyHasRounds { self.plan.hasRounds = true }
    machine.handle(.begin(bytesMax: .max))
    parser.reset()
    parser.allowsAnotherHead = self.plan.hasRounds
    roundHead = nil
    isInsideHeadLine = false
    deadlines = Deadlines(plan.timeouts, now: now)
    sends = 0
    chunks = nil
    (hasMetUnaskedBytes, speaksHTTP2) = (false, false)
    socketErrno = 0
    bytesSent = 0
    hasStreamed = false
    keptBytesMax = 0
    head = nil
    bytesExpected = nil
    reportedBytes = 0
    reportedSent = 0
    bytesToSend = plan.source.flatMap(\.length)
    handle.setTarget(of: plan.url, from: plan.targetOffset)
    handle.setShape(
      EasyHandle.Shape(
        method: plan.method,
        bodyBytes: plan.source.map { $0.length ?? -1 } ?? (plan.method.expectsBody ? 0 : nil),
        needsFreshConnection: plan.needsFreshConnection,
        showsHead: LoadedCurl.keepsFreedField && !self.plan.hasRounds))
    if let lines = plan.headerLines { handle.setHeaders(lines) }
    handle.clearMessage()
    handle.setEndsConnection(false)
    wasAdded = failure == nil
    if let failure { machine.handle(.fail(failure)) } else { multi.add(self) }
  }

  /// Takes the exchange off libcurl, done or not, and answers how it went. The transfer is idle afterwards.
  func end(code: Int32?) -> NetworkError? {
    guard wasAdded else { return endUnsent() }
    tookConnectionAlong =
      code == 0 && parser.framing.endsWithStream(head) && multi.hasJustClosed(localPort: handle.localPort)
    let isCutOff = code ?? 0 != 0 && multi.wasCutOff(localPort: handle.localPort)
    multi.remove(self)
    multi.forget(self)
    if tellsOfExcess { handle.setTellsOfExcess(false) }
    tellsOfExcess = false
    if isCutOff { machine.handle(.fail(NetworkError(.http2Failed, reason: "flood"))) }
    if code == 0 { takeLastRound() }
    if code == 0, head != nil { Failpoint.pass(.afterResponseBody) }
    plan.source?.close()
    plan.source = nil
    let failure = code.flatMap { verdict(code: $0) } ?? machine.failure.map { sent($0) }
    machine.handle(.done)
    return failure
  }

  /// libcurl never heard of it.
  private func endUnsent() -> NetworkError? {
    plan.source?.close()
    plan.source = nil
    defer { machine.handle(.done) }
    return machine.failure
  }

  /// Gives up everything that belongs to the exchange that ended.
  func reset() {
    collected = []
    keptBytesMax = 0
    fanout = nil
    decoder = nil
    owner = nil
    isPausedByReader = false
    isPausedByUser = false
    isPausedByTurn = false
    chunks = nil
    looksPaused = 0
    head = nil
  }

  /// Closes the exchange from our side: the next event of libcurl ends it.
  func fail(_ failure: NetworkError) { machine.handle(.fail(failure)) }

  var bodyBytes: Int64 { machine.bodyBytes }

  var hasBodyToSend: Bool { plan.source != nil }

  /// Nil until the head is known.
  var bodyUse: BodyUse? {
    if case .receiving(let use) = machine.state { use } else { nil }
  }

  /// One more wants the body that is already coming: its sinks get what was kept so far, then follow.
  func widen(streamsOf id: UInt64) {
    guard let head, let fanout else { return }
    machine.handle(.widen)
    hasStreamed = true
    fanout.open(head, bytesExpected: bytesExpected, only: id)
    let kept = collected
    fanout.write(kept.rawBytes, only: id)
  }

  /// A body was begun for someone, so a second attempt would begin another: a stream is opened once.
  var hasStreamed = false

  var url: String { plan.url }

  func takeCollected() -> [UInt8] {
    defer { collected = [] }
    return collected
  }

  // MARK: Time

  func expired(now: Microseconds) -> NetworkError.Cause? {
    deadlines?.check(
      Deadlines.Progress(
        isConnected: wasAdded && head != nil || bytesSent > 0 || handle.isConnected, hasHead: head != nil,
        bytes: machine.bodyBytes + bytesSent, isPaused: isPausedByUser, waitsForReader: isPausedByReader),
      now: now)
  }

  // MARK: Pausing

  private func notePause() {
    let isPaused = isPausedByReader || isPausedByUser || isPausedByTurn
    guard isPaused != isCountedAsPaused else { return }
    isCountedAsPaused = isPaused
    multi.pausedTransfers += isPaused ? 1 : -1
  }

  func pauseByUser() {
    isPausedByUser = true
    handle.pause()
  }

  func resumeByUser() {
    isPausedByUser = false
    goOn()
  }

  /// The slow sink caught up.
  func resumeByReader() {
    guard isPausedByReader, !isReading else { return }
    isPausedByReader = false
    looksPaused = 0
    goOn()
  }

  /// The others had their turn.
  func resumeByTurn() {
    isPausedByTurn = false
    goOn()
  }

  /// The source has bytes again.
  func resumeSending() { goOn() }

  /// Has libcurl go on unless there is another reason to wait. It may hand over at once what it had kept, and tells of
  /// nobody what comes of that; so a failure is told here.
  private func goOn() {
    guard !isPausedByUser, !isPausedByReader, !isPausedByTurn else { return }
    let code = multi.resume(self)
    guard code != 0 || machine.failure != nil, machine.state != .idle else { return }
    multi.didBreak(self, code: code != 0 ? code : MultiHandle.writeFailed)
  }
}
