import NetSpool

/// What is said, and the exit status.
extension FrozenPost {
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

  /// It is on the disk, and we leave.
  func left(_ kept: Kept?) -> JobStatus {
    if stopped == nil, options.freezing.detach { return .allDone }
    guard let kept else { return stopped ?? .failedForNow }
    let place = options.freezing.place
    var cause = ""
    if stopped == nil, let head = kept.head {
      let needs = FrozenText.list(head.secretFields)
      cause =
        head.id == kept.ticket.id ? ": it needs \(needs)" : ": #\(head.id) goes first and needs \(needs)"
    }
    let command = (kept.head ?? kept.own).map { FrozenAdvice.thaw($0, place) }
    console.message(
      "netspool: #\(kept.ticket.id) stays frozen\(cause); to send it: "
        + (command ?? FrozenAdvice.command(["thaw"], place)))
    return stopped ?? .failedForNow
  }

  func status(
    after result: Result<NetworkResponse, NetworkError>, _ kept: Kept?, _ talk: GetTalk?
  ) throws(IOFailure) -> JobStatus {
    switch result {
    case .success(let response):
      talk?.received(response)
      try write(response.body)
      return .allDone
    case .failure(let error):
      guard let kept else { return refused(error) }
      if let response = error.response {
        talk?.received(response)
        try write(response.body)
      }
      console.message("netspool: \(error)")
      let command = FrozenAdvice.command(["revive", "\(kept.ticket.id)"], options.freezing.place)
      console.message("netspool: #\(kept.ticket.id) is a dead letter; to have it sent after all: \(command)")
      return .failedForGood
    }
  }

  /// It was not kept.
  private func refused(_ error: NetworkError) -> JobStatus {
    if let stopped, error.code == .engineClosed { return stopped }
    console.message("netspool: \(error)")
    let local: Set<NetworkError.Code> = [
      .uploadSourceFailed, .storageFull, .storeFailed, .storeCorrupt, .queueFull,
    ]
    return local.contains(error.code) ? .localIO : .failedForGood
  }

  private func write(_ body: ResponseBody) throws(IOFailure) {
    if options.freezing.jsonOutput && options.output == nil { return }
    try GetTarget(options.output).publish(body)
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
