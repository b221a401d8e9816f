/// Everything that one attempt needs, from its slot to its end: what it is given, how far it has come, and what its head
/// has decided. An idle transfer has a new one, whose plan is made where it stands; `Transfer.reset` gives it up whole, so
/// that nothing of one attempt comes into the next. It is large, and never copied.
struct Exchange {
  /// What it is given.
  struct Plan {
    #if Tracing
    /// Told how the exchange ended, once.
    var onEnd: ((ResponseHead?, NetworkError?) -> Void)?
    #endif
    /// A canonical URL, and where its path begins.
    var url = ""
    var targetOffset = 0
    var method: Method = .get
    /// Lines for the request; nil keeps those of the last exchange on this handle.
    var headerLines: [[UInt8]]?
    var source: (any BodySource)?
    /// libcurl must not send it a second time by itself.
    var refusesResend = false
    var needsFreshConnection = false
    /// libcurl authenticates in several rounds of its own.
    var hasRounds = false
    var decodes = true
    var timeouts = NetworkRequest.Timeouts.standard
    var limits = NetworkEngine.Limits.standard
    /// The closure that sees what is on the wire.
    var onWire: (@Sendable (WireHead) -> Void)?

    mutating func aim(at url: String) {
      self.url = url
      targetOffset = PlainURL.targetOffset(url)
    }
  }

  /// What the head has decided: done when the exchange has ended.
  enum Next {
    case redirect(RedirectHop)
    case retry(after: Double)
    case withoutExpect
    /// The 304 was not about what is held: once more, and all of it.
    case unconditional
    /// The 401 has told how to answer.
    case authorized
    case ask(CredentialProvider)
    /// Begins again what could not begin.
    case again
    case fail(NetworkError)
  }

  /// Why libcurl was asked to leave the connection alone for now.
  struct Pauses: OptionSet {
    let rawValue: UInt8
    static let user = Pauses(rawValue: 1)
    /// The streams have all that they can take.
    static let reader = Pauses(rawValue: 2)
    /// Others want their turn.
    static let turn = Pauses(rawValue: 4)
  }

  var plan = Plan()
  /// For whom it is; the engine's, for its own bookkeeping.
  var owner: AnyObject?
  var startedAt: Microseconds = 0
  var deadlines: Deadlines?
  var machine = TransferStateMachine()
  var pauses: Pauses = []

  // MARK: Sending

  /// libcurl has it, or had it.
  var wasAdded = true
  /// The number of times that the request was about to be sent on a connection.
  var sends = 0
  /// How often the server has said of the sent request that it will not process it (REFUSED_STREAM).
  var refusals = 0
  /// The number of its stream, where that was asked for.
  var stream = 0
  /// See `Transfer.isUnprocessed(code:)`.
  var isUnprocessed = false
  var socketErrno: Int32 = 0
  /// When its first socket was made; 0: it has none, as there is a connection or another transfer makes one.
  var dialedAt: Microseconds = 0
  /// Which answer about its origin's name libcurl had been told.
  var addressesVersion = 0
  /// On the connection that the request was sent on.
  var speaksHTTP2 = false
  /// The port at our end of a connection that is shared; see `GivenUpConnections`.
  var sharedPort: Int?
  /// Its other end, where a rule of egress was asked about it.
  var peer: NetworkEngine.Egress.Address?
  /// The connection had something to say before it was asked.
  var hasMetUnaskedBytes = false
  var bytesToSend: Int64?
  var bytesSent: Int64 = 0
  /// See `Transfer.endIfSentInVain`.
  var lastFill = (bytes: Int64(-1), seenAt: Microseconds(0))

  // MARK: Receiving

  /// A new connection is being made by way of a proxy: what comes on it is the proxy's, until the request is sent.
  var isTunnelling = false
  var tunnel = Tunnel()
  /// A refusal that libcurl is about to answer by itself.
  var roundHead: ResponseHead?
  var head: ResponseHead?
  var next: Next?
  /// A chunked body's, while it comes.
  var chunks: ChunkedBody?
  var decoder: ContentDecoder?
  /// Bytes that libcurl was told to keep though all of them went to the decoder, which was held up: it will give them again.
  var bytesHeld = 0
  /// The expected body length, from the head; nil when unknown or encoded.
  var bytesExpected: Int64?
  /// The body, when an operation wants it in memory.
  var collected: [UInt8] = []
  /// What is kept of a body that goes to streams.
  var spool: BodySpool?
  var fanout: SinkFanout?
  /// Its part of what may come before anybody takes it, on a connection that others use.
  var readAhead: BudgetRoom.Share?
  /// A body was begun for someone, so a second attempt would begin another: a stream is opened once.
  var hasStreamed = false
  /// libcurl was asked for its words (`Transfer.heard`).
  var tells = false
  /// See `Deadlines.Progress`.
  var isLive = false
  /// The number of those that joined it first, each of which has an end of its own where it wants one.
  var waitersLimited = 0
  /// When a head came that decides without its body; 0: none has.
  var leftAt: Microseconds = 0

  // MARK: The engine's notes

  /// Its place among those that run.
  var slot = -1
  /// True if it has had its place for long: another has it, but not its origin's.
  var standsAside = false
  /// And that is because an engine had none.
  var lendsPlace = false
  /// True if it only waits for its streams: another has its place.
  var hasYielded = false
  /// Its origin's width learns from how it goes.
  var isJudged = true
  /// The number of looks, one after the other, at which its streams took nothing.
  var looksPaused = 0
  var reportedBytes: Int64 = 0
  var reportedSent: Int64 = 0

  /// What is known when it begins, besides its plan.
  mutating func begin(for owner: AnyObject, fanout: SinkFanout?, now: Microseconds) {
    self.owner = owner
    self.fanout = fanout
    startedAt = now
    deadlines = Deadlines(plan.timeouts, now: now)
    bytesToSend = plan.source?.length
  }

  /// The head has decided, and the body changes nothing; but one that is repeated may be the answer for some who share it.
  func leavesBody(_ use: BodyUse) -> Bool {
    switch next {
    case nil: false
    case .retry: use == .discard
    default: true
    }
  }

  /// Its answer is not the one that counts: another exchange follows.
  var hasSuccessor: Bool {
    switch next {
    case nil, .fail: false
    case .redirect, .retry, .withoutExpect, .unconditional, .authorized, .ask, .again: true
    }
  }
}

/// The life of one exchange: an event goes in, what to do with it comes out; no I/O.
///
/// `idle` -begin-> `awaitingHead` -head-> `receiving` -done-> `idle`; a failure may come at any time and the
/// first one is kept. Anything else is a mistake of ours and traps with its name.
struct TransferStateMachine: Sendable {
  enum State: Equatable, Sendable {
    case idle
    case awaitingHead
    case receiving(BodyUse)
  }

  enum Event: Sendable {
    case begin(bytesMax: Int64)
    /// The final head; 1xx heads change nothing here.
    case head(BodyUse, bytesMax: Int64)
    /// The body goes to sinks as well from now on, and may be as long as they take.
    case widen(bytesMax: Int64)
    /// The body is collected as well from now on, with what was kept of it.
    case collect(bytesMax: Int64)
    /// The body goes to the sinks alone from now on.
    case narrow
    /// Decoded body bytes.
    case bytes(Int)
    case fail(NetworkError)
    /// libcurl reported the end.
    case done
  }

  enum Action: Sendable, Equatable {
    case proceed
    /// Hand these bytes on.
    case use(BodyUse)
    /// Tell libcurl to end the transfer.
    case stop
  }

  private(set) var state = State.idle
  /// Why it must not succeed; the first reason counts.
  private(set) var failure: NetworkError?
  private(set) var bodyBytes: Int64 = 0
  private var bytesMax = Int64.max

  @discardableResult
  mutating func handle(_ event: Event) -> Action {
    switch (state, event) {
    case (.idle, .begin(let limit)):
      state = .awaitingHead
      failure = nil
      bodyBytes = 0
      bytesMax = limit
    case (.awaitingHead, .head(let use, let limit)):
      state = .receiving(use)
      bytesMax = limit
      if failure != nil { return .stop }
    case (.receiving(let use), .bytes(let count)): return bytes(count, use)
    case (.receiving(var use), .widen(let limit)):
      use.streams = true
      bytesMax = limit
      state = .receiving(use)
    case (.receiving(var use), .collect(let limit)):
      use.collects = true
      state = .receiving(use)
      // Beside streams what is collected has a limit of its own: they go on.
      if !use.streams { bytesMax = min(bytesMax, limit) }
    case (.receiving, .narrow): state = .receiving(.stream)
    case (.awaitingHead, .fail(let failure)), (.receiving, .fail(let failure)): return fail(failure)
    case (.awaitingHead, .done), (.receiving, .done): state = .idle
    default: preconditionFailure("NetSpool: a transfer cannot take \(event) when \(state)")
    }
    return .proceed
  }

  private mutating func bytes(_ count: Int, _ use: BodyUse) -> Action {
    guard failure == nil else { return .stop }
    bodyBytes += Int64(count)
    guard bodyBytes <= bytesMax else {
      return fail(NetworkError(.bodyTooLarge, reason: "more than \(bytesMax) bytes", sendState: .answered))
    }
    return .use(use)
  }

  private mutating func fail(_ failure: NetworkError) -> Action {
    if self.failure == nil { self.failure = failure }
    return .stop
  }
}

/// When a running transfer has taken too long, and in which phase. Pure: time is passed in.
///
/// libcurl's own timers cost 15 % when set per transfer and have no limit for the head, so one tick of the
/// loop asks these for every running transfer.
struct Deadlines: Sendable {
  /// The facts that are known at a tick.
  struct Progress: Sendable {
    var isConnected: Bool
    var hasHead: Bool
    var bytes: Int64
    /// Paused by its user: nothing counts.
    var isPaused: Bool
    /// Paused by a slow stream: the origin is not to blame, and only `total` counts here (see `StreamWatch`).
    var waitsForReader = false
    /// The body comes as it is made, events or lines: any byte is progress, however few there are in a second.
    var isLive = false
  }

  private(set) var timeouts: NetworkRequest.Timeouts
  private let startedAt: Microseconds
  private var connectedAt: Microseconds?
  private var checkedAt: Microseconds
  private var checkedBytes: Int64 = 0
  private var pausedFor: Microseconds = 0
  private var lastTick: Microseconds

  init(_ timeouts: NetworkRequest.Timeouts, now: Microseconds) {
    self.timeouts = timeouts
    startedAt = now
    checkedAt = now
    lastTick = now
  }

  mutating func check(_ progress: Progress, now: Microseconds) -> NetworkError.Cause? {
    defer { lastTick = now }
    if progress.isPaused {
      pausedFor += now - lastTick
      restartStall(progress, now)
      return nil
    }
    if isOver(timeouts.total, now) || isOver(timeouts.attempt, now) { return .total }
    if progress.waitsForReader {
      restartStall(progress, now)
      return nil
    }
    guard progress.isConnected else {
      return now - startedAt - pausedFor >= timeouts.connect.microseconds ? .connect : nil
    }
    if connectedAt == nil {
      connectedAt = now
      restartStall(progress, now)
    }
    return progress.hasHead ? checkStall(progress, now) : checkHead(progress, now)
  }

  private func isOver(_ limit: Duration?, _ now: Microseconds) -> Bool {
    limit.map { now - startedAt - pausedFor >= $0.microseconds } ?? false
  }

  /// While the request's body is still going out, the origin owes no head yet: only a stall counts.
  private mutating func checkHead(_ progress: Progress, _ now: Microseconds) -> NetworkError.Cause? {
    if progress.bytes > checkedBytes {
      restartStall(progress, now)
      return nil
    }
    return now - max(checkedAt, connectedAt!) >= timeouts.headers.microseconds ? .headers : nil
  }

  private mutating func checkStall(_ progress: Progress, _ now: Microseconds) -> NetworkError.Cause? {
    guard let stall = timeouts.stall else { return nil }
    let elapsed = now - checkedAt
    let owed = progress.isLive ? 1 : Double(timeouts.stallBytesPerSecond) * Double(elapsed) / 1e6
    // Looked at once a second, and at least twice within the limit.
    if elapsed >= min(1_000_000, stall.microseconds / 2), Double(progress.bytes - checkedBytes) >= owed {
      restartStall(progress, now)
      return nil
    }
    return elapsed >= stall.microseconds ? .stall : nil
  }

  /// Another shares the exchange, who is more patient.
  mutating func widen(_ other: NetworkRequest.Timeouts) { timeouts = timeouts.longest(other) }

  /// What counts against the total.
  func spent(now: Microseconds) -> Microseconds { max(0, now - startedAt - pausedFor) }

  private mutating func restartStall(_ progress: Progress, _ now: Microseconds) {
    checkedAt = now
    checkedBytes = progress.bytes
  }
}
