import NetSpool

/// A frozen `post`, from its options to its exit status.
struct FrozenPost {
  let options: PostCommand
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

  /// Throws `NetworkError` for settings that the library refuses, `IOFailure`, and `StoreFailure`.
  func run() throws -> JobStatus {
    try options.target.redirectMessages()
    let request = try makeRequest()
    let talk = options.target.verbose ? try WireWatch(options.target) : nil
    let hold = try FrozenHold(try settings(request, talk), console)
    defer { hold.close() }
    let inbox = Inbox<Event>()
    let operation = hold.engine.operation(request)
    operation.onFrozen { inbox.put(.frozen($0)) }.onCompletion { inbox.put(.ended(.success($0))) }.onError {
      inbox.put(.ended(.failure($0)))
    }.onStateChange { if $0 == .frozen { inbox.put(.postponed) } }
    try hold.engine.onThawed { Console.standardError().message("netspool: \(FrozenText.outcome($0))") }
    stop.onPress(drains: true) { inbox.put(.pressed) }
    if let stopped = stop.status { return stopped }
    hold.engine.enqueue(operation)
    return try follow(inbox, request, hold.engine, talk)
  }

  private func follow(
    _ inbox: Inbox<Event>, _ request: NetworkRequest, _ engine: NetworkEngine, _ talk: WireWatch?
  ) throws -> JobStatus {
    var kept: Kept?
    var trouble: String?
    while let event = inbox.next() {
      switch event {
      case .frozen(let ticket):
        kept = look(at: ticket, request, engine)
        do { try printTicket(ticket, request) } catch {
          console.message(
            "netspool: request #\(ticket.id) is kept all the same, and will be sent: do not post it again")
          throw error
        }
        if options.freezing.detach || kept?.head != nil { close(engine, inbox, within: 0) }
      case .postponed: tell(kept?.ticket, engine, &trouble)
      case .pressed: close(engine, inbox, within: Self.graceSeconds)
      case .closed: return kept.map(left) ?? stop.status ?? .failedForNow
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

  private func makeRequest() throws -> NetworkRequest {
    let draft = try RequestDraft(options, console)
    var request = draft.request(for: options.asked.first { _ in true }?.url ?? "", 0)
    options.finish(&request)
    request.isFreezable = true
    request.tag = options.freezing.tag
    let given = request.headers["Idempotency-Key"].map(IdempotencyKeys.unquoted)
    request.idempotencyKey = options.idempotencyKey ?? given ?? IdempotencyKeys.random()
    request.freezing.lane = options.freezing.lane
    request.freezing.dedupeKey = options.freezing.dedupe
    request.freezing.lifetime = options.freezing.expires.map { .seconds($0.seconds) }
    return request
  }

  private func settings(_ request: NetworkRequest, _ talk: WireWatch?) throws(StoreFailure) -> FrozenSettings
  {
    var settings = try FrozenSettings(options.freezing.place, environment)
    if let limit = options.request.limit { settings.timeoutSeconds = limit.seconds }
    settings.connection = { [options, environment] in
      options.connection.apply(to: &$0, environment)
      $0.allowsCredentialsInClear = options.account.inClear
      if let talk { $0.onWire = { head in talk.saw(head) } }
    }
    if !options.freezing.detach { settings.freezing.maySend = { Self.canSend($0, request) } }
    if options.idempotencyKey != nil {
      settings.freezing.secrets = { Self.isSame($0, request) ? request.headers.only($0.secretFields) : [:] }
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

  func printTicket(_ ticket: FrozenTicket, _ request: NetworkRequest) throws(IOFailure) {
    if options.freezing.jsonOutput { return try print(FrozenJSON.ticket(ticket, request)) }
    let isOld = ticket.isDuplicate ? " (it waits already)" : ""
    try print(Array("frozen #\(ticket.id), idempotency key \(ticket.idempotencyKey)\(isOld)\n".utf8))
  }

  /// Why it is not sent yet, once for each reason.
  func tell(_ ticket: FrozenTicket?, _ engine: NetworkEngine, _ last: inout String?) {
    guard let ticket, let own = engine.frozenOperations.first(where: { $0.id == ticket.id }),
      let trouble = FrozenText.trouble(own), trouble != last
    else { return }
    last = trouble
    console.message("netspool: #\(ticket.id) waits: \(trouble)")
  }

  /// Says that it is on the disk, and that we leave.
  private func left(_ kept: Kept) -> JobStatus {
    if stop.status == nil, options.freezing.detach { return .allDone }
    let place = options.freezing.place
    var cause = ""
    if stop.status == nil, let head = kept.head {
      let needs = FrozenText.list(head.secretFields)
      cause =
        head.id == kept.ticket.id ? ": it needs \(needs)" : ": #\(head.id) goes first and needs \(needs)"
    }
    let command = (kept.head ?? kept.own).map { FrozenAdvice.thaw($0, place) }
    console.message(
      "netspool: #\(kept.ticket.id) stays frozen\(cause); to send it: "
        + (command ?? FrozenAdvice.command(["thaw"], place)))
    return stop.status ?? .failedForNow
  }

  func status(after result: Result<NetworkResponse, NetworkError>, _ kept: Kept?, _ talk: WireWatch?)
    throws -> JobStatus
  {
    switch result {
    case .success(let response):
      try write(response, talk)
      return .allDone
    case .failure(let error):
      guard let kept else { return refused(error) }
      let keepsBody = options.target.keepsErrors(isFile: output.map { $0 != "-" } ?? false)
      if let response = error.response { try write(response, talk, keepsBody: keepsBody) }
      console.message("netspool: \(FailureAdvice.text(error))")
      if let response = error.response, (200..<300).contains(response.status) {
        console.message("netspool: the server has taken #\(kept.ticket.id) all the same")
        return .failedForGood
      }
      let command = FrozenAdvice.command(["revive", "\(kept.ticket.id)"], options.freezing.place)
      console.message("netspool: #\(kept.ticket.id) is a dead letter; to have it sent after all: \(command)")
      return .failedForGood
    }
  }

  /// Says that it was not kept.
  private func refused(_ error: NetworkError) -> JobStatus {
    if let stopped = stop.status, error.code == .engineClosed { return stopped }
    console.message("netspool: \(FailureAdvice.text(error))")
    let local: Set<NetworkError.Code> = [
      .uploadSourceFailed, .uploadLengthMismatch, .storageFull, .storeFailed, .storeCorrupt, .queueFull,
    ]
    if error.isOfCommandLine { return .usage }
    return local.contains(error.code) ? .localIO : .failedForGood
  }

  private var output: String? { options.target.output.first { $0 != TargetOptions.remoteName } }

  private func write(_ response: NetworkResponse, _ talk: WireWatch?, keepsBody: Bool = true) throws {
    talk?.received(response)
    if !keepsBody || options.freezing.jsonOutput && output == nil { return }
    try GetTarget(output ?? "-").publish([UInt8](response.body))
  }
}

extension NetworkRequest.Headers {
  /// The fields of these names.
  func only(_ names: [String]) -> NetworkRequest.Headers {
    let names = Set(names.map { $0.lowercased() })
    var some = NetworkRequest.Headers()
    for field in self where names.contains(field.name.lowercased()) { some.add(field.name, field.value) }
    return some
  }
}

/// Keys for requests whose author gave none.
enum IdempotencyKeys {
  /// The key of a field that was given as such.
  static func unquoted(_ field: String) -> String {
    field.utf8.count > 1 && field.hasPrefix("\"") && field.hasSuffix("\"")
      ? String(field.dropFirst().dropLast()) : field
  }

  /// A random UUID (RFC 9562 section 5.4).
  static func random() -> String {
    var bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = bytes.map { HumanText.padded(String($0, radix: 16), to: 2, with: "0") }
    let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
    return groups.map { digits[$0].joined() }.joined(separator: "-")
  }
}
