import NetSpool

/// One frozen `post`, from its options to its exit status.
struct FrozenPost {
  let options: PostOptions
  let console: Console
  let stop: StopSwitch
  var environment = Environment.process
  /// Where the ticket goes; standard output unless told otherwise.
  var print: ([UInt8]) throws(IOFailure) -> Void = StandardOutput.write

  private enum Event: Sendable {
    case frozen(FrozenTicket)
    case ended(Result<NetworkResponse, NetworkError>)
    /// An attempt failed, and there will be another.
    case postponed
    case pressed
    /// The engine is closed, and what had ended by then has been told.
    case closed
  }

  /// What is known of our request since it is on the disk.
  struct Kept {
    let ticket: FrozenTicket
    /// Nil when it is sent already.
    let own: FrozenOperation?
    /// The request of its lane, perhaps itself, that goes first and that we cannot send.
    let head: FrozenOperation?
  }

  /// After a signal, for an answer that may be on its way.
  private static let graceSeconds = 2.0

  /// Throws `NetworkError` for settings that the library refuses, `IOFailure`, and `FrozenFailure`.
  func run() throws -> JobStatus {
    let request = try makeRequest()
    let hold = try FrozenHold(try settings(request), console)
    defer { hold.close() }
    let inbox = Inbox<Event>()
    let operation = hold.engine.operation(request)
    operation.onFrozen { inbox.put(.frozen($0)) }
      .onCompletion { inbox.put(.ended(.success($0))) }
      .onError { inbox.put(.ended(.failure($0))) }
      .onStateChange { if $0 == .frozen { inbox.put(.postponed) } }
    try hold.engine.onThawed { Console.standardError().message("netspool: \(FrozenText.outcome($0))") }
    let talk = options.verbose ? GetTalk() : nil
    talk?.sending(request, [:])
    stop.onPress { inbox.put(.pressed) }
    if let stopped { return stopped }
    hold.engine.enqueue(operation)
    return try follow(inbox, request, hold.engine, talk)
  }

  private func follow(
    _ inbox: Inbox<Event>, _ request: NetworkRequest, _ engine: NetworkEngine, _ talk: GetTalk?
  ) throws -> JobStatus {
    var kept: Kept?
    var trouble: String?
    while let event = inbox.next() {
      switch event {
      case .frozen(let ticket):
        kept = look(at: ticket, request, engine)
        try printTicket(ticket, request)
        if options.freezing.detach || kept?.head != nil { close(engine, inbox, within: 0) }
      case .postponed: tell(kept?.ticket, engine, &trouble)
      case .pressed: close(engine, inbox, within: Self.graceSeconds)
      case .closed: return kept == nil ? stopped ?? .failedForNow : left(kept)
      case .ended(let result): return try status(after: result, kept, talk)
      }
    }
    return .failedForNow
  }

  private func close(_ engine: NetworkEngine, _ inbox: Inbox<Event>, within seconds: Double) {
    engine.shutDownAndWait(deadline: .seconds(seconds))
    inbox.put(.closed)
  }

  private func look(at ticket: FrozenTicket, _ request: NetworkRequest, _ engine: NetworkEngine) -> Kept {
    let waiting = engine.frozenOperations
    let line = FrozenLine.split(waiting) { Self.canSend($0, request) }
    return Kept(
      ticket: ticket, own: waiting.first { $0.id == ticket.id },
      head: line.held.first { $0.request.id == ticket.id }?.behind)
  }

  var stopped: JobStatus? {
    switch stop.wish {
    case .none: nil
    case .drain(let signal), .quit(let signal): .signal(signal)
    }
  }
}

// MARK: What is asked for

extension FrozenPost {
  private func makeRequest() throws(IOFailure) -> NetworkRequest {
    var request = try options.makeRequest()
    request.isFreezable = true
    request.tag = options.freezing.tag
    request.idempotencyKey = options.idempotencyKey ?? IdempotencyKeys.random()
    request.freezing.lane = options.freezing.lane
    request.freezing.dedupeKey = options.freezing.dedupe
    request.freezing.lifetime = options.freezing.expires.map { .seconds($0.seconds) }
    return request
  }

  private func settings(_ request: NetworkRequest) throws(FrozenFailure) -> FrozenSettings {
    var settings = try FrozenSettings(options.freezing.place, environment)
    settings.timeoutSeconds = options.request.timeout.seconds
    if !options.freezing.detach { settings.maySend = { Self.canSend($0, request) } }
    if options.idempotencyKey != nil {
      settings.secrets = { Self.isSame($0, request) ? request.headers.only($0.secretFields) : [:] }
    }
    return settings
  }

  /// What earlier calls left goes too, before ours where it is of the same lane. Our secrets are for our request only.
  private static func canSend(_ frozen: FrozenOperation, _ request: NetworkRequest) -> Bool {
    frozen.secretFields.isEmpty || frozen.idempotencyKey == request.idempotencyKey
  }

  /// This request, or the same one of an earlier call.
  private static func isSame(_ frozen: FrozenOperation, _ request: NetworkRequest) -> Bool {
    frozen.idempotencyKey == request.idempotencyKey
      && URLText.origin(frozen.url) == URLText.origin(request.url)
  }
}
