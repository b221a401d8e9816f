internal import Synchronization

/// Telling the user. All of it runs on the delivery target, never under the lock.
extension NetworkOperation {
  enum Notice: Sendable {
    case state(State)
    case upload(TransferProgress)
    case download(TransferProgress)
    case notModified
    indirect case informational(ResponseHead)
    case frozen(FrozenTicket)
    indirect case attempt(Int, NetworkError)
    /// A first answer from the cache, before the final one.
    indirect case provisional(NetworkResponse)
    /// With what it counts for.
    case final(Int)
    /// The same for one that is only awaited: on the loop thread.
    case awaited(Int)
    /// Nothing of the operation's: what was to come after all events before it.
    case mark(@Sendable () -> Void)
  }

  /// Adds a handler. One that comes after the end, or after the one event of its kind, gets the last of its events.
  func add(_ handler: Handlers.Handler) {
    let isLate = shared.withLock { shared in
      if shared.isDelivered { return true }
      if case .frozen = handler, shared.hasTicket { return true }
      shared.handlers.append(handler)
      return false
    }
    if isLate { engine.deliverLate(of: self) { [self] in callLate(handler) } }
  }

  private func callLate(_ handler: Handlers.Handler) {
    let (outcome, state) = shared.withLock { ($0.isDelivered ? $0.outcome : nil, $0.state) }
    guard let outcome else { return tellTicket(handler) }
    tellLast(handler, outcome, state)
    Self.call(handler, outcome)
  }

  private func tellTicket(_ handler: Handlers.Handler) {
    guard case .frozen(let body) = handler,
      var ticket = shared.withLock({ $0.hasTicket ? $0.rare.ticket : nil })
    else { return }
    ticket.operation = self
    body(ticket)
  }

  /// Tells one that has not heard it what comes before the last word. An answer from the cache has moved nothing that could
  /// have been told.
  private func tellLast(
    _ handler: Handlers.Handler, _ outcome: Outcome, _ state: State, hasHeard: Bool = false
  ) {
    switch handler {
    case .frozen: if !hasHeard { tellTicket(handler) }
    case .state(let body): if !hasHeard { body(state) }
    case .notModified(let body): if !hasHeard, outcome.result.answer?.isUnchanged == true { body() }
    case .uploadProgress(let body):
      guard !hasHeard, case .success(let answer) = outcome, answer.metrics.bytesSent > 0 else { return }
      body(TransferProgress(whole: answer.metrics.bytesSent, answer))
    case .downloadProgress(let body):
      guard let answer = outcome.result.answer else { return }
      let isWhole = if case .success = outcome { true } else { false }
      guard answer.source == .cache || isWhole && !hasHeard else { return }
      body(TransferProgress(whole: Self.received(answer), answer))
    default: break
    }
  }

  /// Hears of either ending.
  package func onFinal(_ body: @escaping @Sendable (Result<NetworkResponse, NetworkError>) -> Void) {
    add(.final(body))
  }

  /// Resumes what waits for either ending, on whatever thread: it runs no code of the user's, who goes on where his task runs.
  func onEnd(resume body: @escaping @Sendable (Result<NetworkResponse, NetworkError>) -> Void) {
    add(.awaited(body))
  }

  /// The delivery target.
  func deliver(_ event: Notice) {
    if case .final = event { return deliverEnd() }
    if case .awaited = event { return deliverAwaited() }
    if case .mark(let body) = event { return body() }
    // Nearly nobody listens to states, and copying the handlers costs more than to ask.
    if case .state = event, !shared.withLock({ $0.handlers.wantsState }) { return }
    if case .provisional(let response) = event,
      case .failure = judge(.success(response), shared.withLock { $0.rare.demand })
    {
      return
    }
    let handlers = shared.withLock { shared in
      switch event {
      case .provisional: shared.handlers.noteProvisional()
      case .frozen(var ticket):
        ticket.operation = nil
        shared.rare.ticket = ticket
      default: break
      }
      return shared.handlers
    }
    handlers.forEach { handler, isTold in
      guard isTold else { return }
      switch (handler, event) {
      case (.state(let body), .state(let state)): body(state)
      case (.uploadProgress(let body), .upload(let progress)): body(progress)
      case (.downloadProgress(let body), .download(let progress)): body(progress)
      case (.notModified(let body), .notModified): body()
      case (.informational(let body), .informational(let head)): body(head)
      case (.frozen(let body), .frozen(let ticket)):
        Failpoint.pass(.beforeFrozenCallback)
        body(ticket)
      case (.attempt(let body), .attempt(let count, let failure)): body(count, failure)
      case (.completion(let body), .provisional(let response)): body(response)
      default: break
      }
    }
  }

  /// The delivery target, perhaps the thread of another loop than its own, where its other closures are called.
  func deliverHere(_ event: Notice) {
    guard case .loopThread = engine.target, engine.driver.loops.count > 1 else { return deliver(event) }
    perform { core in core.context.tell(self, event) }
  }

  /// The last of all events, and who hears it.
  private struct FinalEvent: ~Copyable {
    let outcome: Outcome
    var handlers = Handlers()
    let isRepetition: Bool
    let state: State

    /// Takes the handlers, which are released after the ending: no cycles survive it.
    init(_ outcome: Outcome, of shared: inout Shared) {
      self.outcome = outcome
      isRepetition = shared.isRepetition
      state = shared.state
      shared.isDelivered = true
      swap(&handlers, &shared.handlers)
    }
  }

  /// Any thread: resumes what awaits the end, if that is all there is to tell. A handler that has come meanwhile is called where
  /// handlers are.
  func deliverAwaited() {
    let isAwaited = shared.withLock { $0.isAwaited }
    isAwaited ? deliverEnd() : engine.deliverLate(of: self) { [self] in deliverEnd() }
  }

  /// The delivery target: the end, behind what those have not heard of it that came after it, or before a loop could tell it.
  func deliverEnd() {
    guard var final = finalEvent() else { return }
    // Nearly nobody listens, and copying the handlers costs more than to ask.
    if final.handlers.wantsLast {
      final.handlers.forEach { handler, isTold in
        tellLast(handler, final.outcome, final.state, hasHeard: isTold)
      }
    }
    if case .failure(let failure) = final.outcome, failure.code != .cancelled,
      !final.handlers.catchesFailures
    {
      engine.configuration.onUnhandledFailure?(failure)
    }
    let outcome = final.outcome
    var provided = final.isRepetition ? final.handlers.countProvided : 0
    final.handlers.drain { handler in
      if provided > 0 {
        provided -= 1
        if case .completion = handler { return }
      }
      Self.call(handler, outcome)
    }
    if engine.observesEnds { observe(final.outcome) }
  }

  /// Nearly always no rule of the user's has a say, and the one lock is enough.
  private func finalEvent() -> FinalEvent? {
    let isRuled = engine.configuration.validate != nil
    var judged: (outcome: Outcome, demand: Demand?, isSuccess: Bool)?
    let known = shared.withLock { shared -> FinalEvent? in
      guard let ended = shared.outcome else { return nil }
      if isRuled || !shared.isPlain && shared.rare.demand != nil {
        judged = (ended, shared.rare.demand, shared.isSuccess)
        return nil
      }
      if case .success(let response) = ended, !response.isOfError { return FinalEvent(ended, of: &shared) }
      let outcome = own(engine.judge(ended, isSuccess: shared.isSuccess), shared.changed?.request ?? original)
      shared.outcome = outcome
      return FinalEvent(outcome, of: &shared)
    }
    guard let judged else { return known }
    let outcome = own(judge(judged.outcome, judged.demand, isSuccess: judged.isSuccess), request)
    return shared.withLock { shared in
      shared.outcome = outcome
      return FinalEvent(outcome, of: &shared)
    }
  }

  /// An error can say what was sent.
  private func own(_ outcome: Outcome, _ request: @autoclosure () -> NetworkRequest) -> Outcome {
    guard case .failure(let failure) = outcome else { return outcome }
    return .failure(failure.of(curlCommand(of: request())))
  }

  func observe(_ outcome: Outcome) {
    let enqueuedAt = shared.withLock { $0.enqueuedAt }
    let result = outcome.result
    var metrics = result.answer?.metrics ?? NetworkResponse.Metrics()
    if case .failure(let failure) = result { metrics.attempts = failure.attempts }
    if enqueuedAt > 0 { metrics.endToEndTime = MonotonicClock.now - enqueuedAt }
    engine.configuration.onEnd?(self, result, metrics)
    #if Metrics
    engine.metrics.ended(self, result, metrics)
    #endif
    endTrace(result)
    engine.log(endingOf: self, result, metrics, summary(of: outcome))
  }

  /// The engine's rule first, then what this one demands.
  private func judge(_ raw: Outcome, _ demand: Demand?, isSuccess: Bool = false) -> Outcome {
    let outcome = engine.judge(raw, isSuccess: isSuccess)
    guard let demand, case .success(let response) = outcome,
      var failure = demand(request, response)?.about(request.url)
    else { return outcome }
    failure.response = response
    return .failure(failure)
  }

  private func summary(of outcome: Outcome) -> String {
    switch outcome {
    case .success(let response):
      "\(request.method.name) \(Redaction.standard.url(request.url)) \(response.head.status), "
        + "\(response.body.count) bytes, \(response.metrics.total)"
    case .failure(let failure): "\(request.method.name) \(failure)"
    case .handedOver: "\(request.method.name) \(Redaction.standard.url(request.url)) stays frozen"
    }
  }

  /// Bytes of a body, wherever it has gone.
  private static func received(_ response: NetworkResponse) -> Int64 {
    response.streams.map(\.bytes).max() ?? Int64(response.body.count)
  }

  private static func call(_ handler: Handlers.Handler, _ outcome: Outcome) {
    switch (handler, outcome) {
    case (.completion(let body), .success(let response)): body(response)
    case (.failure(let body), .failure(let failure)): body(failure)
    case (.final(let body), _), (.awaited(let body), _): body(outcome.result)
    case (.ended(let body), _): body()
    default: break
    }
  }
}

extension NetworkResponse {
  /// The origin has said that what the user or the cache has still holds.
  var isUnchanged: Bool { head.status == 304 || source == .revalidated }
}

extension Result<NetworkResponse, NetworkError> {
  /// What came, whether it counts as a success or not.
  var answer: NetworkResponse? {
    switch self {
    case .success(let response): response
    case .failure(let failure): failure.response
    }
  }
}

extension TransferProgress {
  /// All of a body.
  fileprivate init(whole bytes: Int64, _ response: NetworkResponse) {
    let seconds = Double(max(1, response.metrics.totalTime)) / 1e6
    self.init(done: bytes, total: bytes, bytesPerSecond: Double(bytes) / seconds)
  }
}

/// The closures of an operation. Nearly all have one or two, which need no array.
struct Handlers: Sendable {
  enum Handler: Sendable {
    case completion(@Sendable (NetworkResponse) -> Void)
    case failure(@Sendable (NetworkError) -> Void)
    /// Either ending.
    case final(@Sendable (Result<NetworkResponse, NetworkError>) -> Void)
    /// The same for one who waits, on any thread.
    case awaited(@Sendable (Result<NetworkResponse, NetworkError>) -> Void)
    /// Our own bookkeeping: either ending, after the user's closures of that time; catches nothing.
    case ended(@Sendable () -> Void)
    case uploadProgress(@Sendable (TransferProgress) -> Void)
    case downloadProgress(@Sendable (TransferProgress) -> Void)
    case frozen(@Sendable (FrozenTicket) -> Void)
    case attempt(@Sendable (Int, NetworkError) -> Void)
    case notModified(@Sendable () -> Void)
    case informational(@Sendable (ResponseHead) -> Void)
    case state(@Sendable (NetworkOperation.State) -> Void)
  }

  private var first: Handler?
  private var second: Handler?
  private var rest: [Handler] = []
  /// So many of them, the first, were there when the provisional answer was told.
  private(set) var countProvided: UInt16 = 0
  /// So many hear what the loop tells: all, until it has told of the end.
  private(set) var countTold = UInt16.max

  private var count: UInt16 {
    UInt16(clamping: (first == nil ? 0 : 1) + (second == nil ? 0 : 1) + rest.count)
  }

  mutating func noteProvisional() { countProvided = min(count, countTold) }
  mutating func noteEnd(onLoop isOnLoop: Bool) { countTold = isOnLoop ? count : 0 }

  mutating func append(_ handler: Handler) {
    if first == nil {
      first = handler
    } else if second == nil {
      second = handler
    } else {
      rest.append(handler)
    }
  }

  /// Each for the last time: it is moved out, and released behind its call.
  mutating func drain(_ body: (Handler) -> Void) {
    if let first = first.take() { body(first) }
    if let second = second.take() { body(second) }
    if rest.isEmpty { return }
    for handler in rest { body(handler) }
    rest = []
  }

  /// With whether it hears what the loop tells.
  func forEach(_ body: (Handler, _ isTold: Bool) -> Void) {
    if let first { body(first, countTold > 0) }
    if let second { body(second, countTold > 1) }
    for (index, handler) in rest.enumerated() { body(handler, countTold > index + 2) }
  }

  func contains(_ matches: (Handler) -> Bool) -> Bool {
    if let first, matches(first) { return true }
    if let second, matches(second) { return true }
    return rest.contains(where: matches)
  }

  /// There is one, which waits for the end and may be told on any thread.
  var isAwaitedAlone: Bool {
    if second == nil, case .awaited? = first { true } else { false }
  }

  var wantsState: Bool { contains { if case .state = $0 { true } else { false } } }
  var wantsAttempts: Bool { contains { if case .attempt = $0 { true } else { false } } }
  var wantsInformational: Bool { contains { if case .informational = $0 { true } else { false } } }
  var wantsUpload: Bool { contains { if case .uploadProgress = $0 { true } else { false } } }
  var wantsDownload: Bool { contains { if case .downloadProgress = $0 { true } else { false } } }
  /// True if a handler hears something before the end.
  var wantsLast: Bool {
    contains { handler in
      switch handler {
      case .state, .notModified, .uploadProgress, .downloadProgress, .frozen: true
      default: false
      }
    }
  }
  var catchesFailures: Bool {
    contains { handler in
      switch handler {
      case .failure, .final, .awaited: true
      default: false
      }
    }
  }
}
