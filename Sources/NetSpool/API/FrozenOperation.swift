/// A request that waits on the disk, or is being sent.
public struct FrozenOperation: Sendable, Identifiable {
  /// Its number in the store.
  public let id: UInt64
  /// Its method.
  public let method: NetworkRequest.Method
  /// Its URL, as it is sent.
  public let url: String
  /// Its fields, without those whose values are never written down.
  public let headers: NetworkRequest.Headers
  /// Names of the fields whose values are asked for before each attempt.
  public let secretFields: [String]
  /// Bytes of its body.
  public let bodyBytes: Int
  /// The author's name for it.
  public let tag: String?
  /// The author's own.
  public let userInfo: [UInt8]
  /// Requests of one lane go one at a time, in the order in which they were accepted: its author's name for it, or the
  /// origin.
  public let lane: String
  /// Sent with every attempt.
  public let idempotencyKey: String
  private let keyField: String
  /// Times that it may have reached the origin.
  public let attempts: Int
  /// An attempt is under way.
  public let isBeingSent: Bool
  /// The engine that was asked for it may send it: its `egress`, `resolve`, `unixSocket` and
  /// `tls.unsafelyTrustsAnyCertificate` are those with which it was accepted. False: it waits for one that has them.
  public let isWithinReach: Bool
  /// When it was accepted: the time since 1970.
  public let createdAt: Duration
  /// The time since 1970; nil: as soon as it is its turn.
  public let notBefore: Duration?
  /// When it is given up: the time since 1970.
  public let expiresAt: Duration
  /// Why the last attempt failed.
  public let lastError: NetworkError.Code?
  /// The status of the last answer.
  public let lastStatus: Int?

  init(_ id: FrozenID, _ record: FrozenRecord, within scope: String? = nil) {
    let (request, facts) = (record.request, record.facts)
    self.id = id.number
    method = (request.method)
    url = request.url
    headers = (request.headers)
    secretFields = request.secretFields
    bodyBytes = request.bodyBytes
    tag = request.tag
    userInfo = request.userInfo
    lane = String(request.lane.dropFirst(request.scope.count + 1))
    idempotencyKey = request.key.text
    keyField = request.keyField
    attempts = Int(facts.attempts)
    isBeingSent = facts.state == .inFlight
    isWithinReach = scope == nil || scope == request.scope
    createdAt = .microseconds(facts.createdWall)
    notBefore = facts.notBeforeWall > 0 ? .microseconds(facts.notBeforeWall) : nil
    expiresAt = createdAt + .microseconds(facts.lifetime)
    lastError = record.lastError
    lastStatus = facts.lastStatus > 0 ? Int(facts.lastStatus) : nil
  }

  /// The request as a command for a shell, with its key, secrets masked; fields that are not written down are shown with
  /// a mask for a value. The body stays in the store: curl reads it from the standard input. See
  /// ``NetworkRequest/curlCommand``.
  public var curlCommand: String {
    var command = CurlCommand(method: method, url: url)
    command.headers = headers
    if !keyField.isEmpty {
      command.headers.append(name: keyField, value: IdempotencyKey(idempotencyKey).wireValue)
    }
    for name in secretFields { command.secretHeaders.append(name: name, value: Redaction.mask) }
    if bodyBytes > 0 { command.body = .file("/dev/stdin", contentType: headers.first("Content-Type") ?? "") }
    return command.text()
  }
}

extension FrozenOperation: CustomStringConvertible, CustomReflectable {
  /// Number, method and URL, secrets masked.
  public var description: String { "#\(id) \(method) \(Redaction.standard.url(url))" }
  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}

/// The receipt for a request that is on the disk: it will be sent, whatever becomes of this process.
public struct FrozenTicket: Sendable, Hashable {
  /// The request's number in its store: strictly increasing, never given twice.
  public let id: UInt64
  /// Sent with every attempt.
  public let idempotencyKey: String
  /// A request with the same `dedupeKey` was waiting already, and this is its ticket.
  public let isDuplicate: Bool
  /// Names of the fields whose values are not on the disk because they are secret (<doc:Security>): after a
  /// restart they come from the engine's credentials and headers, or from `FreezeConfiguration.secrets`.
  public let withheldFields: [String]
  var operation: NetworkOperation?

  /// Its end, in this process: the origin's answer, or why it became a dead letter. `.engineClosed`
  /// (`frozen`) when the engine is shut down first, and the request stays on the disk for a later process;
  /// `.cancelled` (`frozen`) when the task that asks is cancelled, which changes nothing for the request. May
  /// be asked for any number of times.
  public var outcome: Result<NetworkResponse, NetworkError> {
    get async {
      guard let operation else { return .failure(NetworkError(.engineClosed, cause: .frozen)) }
      let answer = FirstAnswer<Result<NetworkResponse, NetworkError>>()
      operation.onFinal { answer.give($0) }
      return await withTaskCancellationHandler {
        await answer.value
      } onCancel: {
        answer.give(.failure(NetworkError(.cancelled, cause: .frozen)))
      }
    }
  }

  /// Compares number and key.
  public static func == (a: FrozenTicket, b: FrozenTicket) -> Bool {
    a.id == b.id && a.idempotencyKey == b.idempotencyKey && a.isDuplicate == b.isDuplicate
      && a.withheldFields == b.withheldFields
  }

  /// Hashes number and key.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(idempotencyKey)
  }
}

extension FrozenTicket: CustomStringConvertible, CustomReflectable {
  /// `#7 frozen`.
  public var description: String { "#\(id) frozen" + (isDuplicate ? ", waiting already" : "") }
  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["ticket": description]) }
}

extension NetworkOperation {
  /// The request is on the disk: from now on it is sent, whatever becomes of this process. Comes once, before the completion
  /// or the error; one that is added later hears it then. When the engine is shut down before the request could be sent, it is the last event.
  @discardableResult
  public func onFrozen(_ handler: @escaping @Sendable (FrozenTicket) -> Void) -> Self {
    add(.frozen(handler))
    return self
  }

  /// An attempt has failed, and another one will be made, as the retry policy says or because the request is
  /// frozen: how many have been made by now (of a frozen one, how many may have reached the origin), and why
  /// this one did not succeed. A silent repeat on a new connection, in place of a dead one, is not told;
  /// ``NetworkResponse/Metrics/attempts`` counts it.
  /// On the delivery target; for display, since attempts that another process makes are not reported.
  @discardableResult
  public func onAttempt(_ handler: @escaping @Sendable (_ attempts: Int, _ error: NetworkError) -> Void)
    -> Self
  {
    add(.attempt(handler))
    return self
  }
}

extension NetworkEngine {
  /// Sends a request as a frozen one and returns when it is on the disk: from then on it is sent, whatever
  /// becomes of this process. ``FrozenTicket/outcome`` tells how it ends.
  ///
  /// Throws a `NetworkError` when it was not frozen, or `CancellationError` when the task was cancelled before it was.
  public func frozenTicket(for request: NetworkRequest) async throws -> FrozenTicket {
    try await frozenTicket(for: operation(request))
  }

  /// The same for an operation, with whatever handlers it has.
  public func frozenTicket(for operation: NetworkOperation) async throws -> FrozenTicket {
    operation.isFreezable = true
    let answer = FirstAnswer<Result<FrozenTicket, NetworkError>>()
    let result = await withTaskCancellationHandler {
      operation.onFrozen { answer.give(.success($0)) }
      operation.onFinal { final in
        // Of a method that is never frozen, the answer comes instead.
        answer.give(final.flatMap { _ in .failure(NetworkError(.invalidRequest, reason: "not freezable")) })
      }
      enqueue(operation)
      return await answer.value
    } onCancel: {
      if !answer.isGiven { operation.cancel() }
    }
    if case .failure(let error) = result, error.code == .cancelled { try Task.checkCancellation() }
    return try result.get()
  }
}

/// The end of a frozen request whose operation ended with an earlier process, or with its engine.
public struct ThawedOutcome: Sendable {
  /// The number on its ticket.
  public let id: UInt64
  /// The author's name for it.
  public let tag: String?
  /// The author's own.
  public let userInfo: [UInt8]
  /// Its method.
  public let method: NetworkRequest.Method
  /// Its URL.
  public let url: String
  /// Sent with every attempt.
  public let idempotencyKey: String
  /// Times that it may have reached the origin.
  public let attempts: Int
  /// The answer (of its body the first 64 KiB, or nothing when it was longer; of its fields 16 KiB), or why it became
  /// a dead letter.
  public let result: Result<NetworkResponse, NetworkError>
  /// The body of the answer was longer than what is kept.
  public let isBodyCut: Bool
  /// True when it may have been delivered before, to a process that ended while its handler ran.
  public let mayBeRepeated: Bool

  /// The URL for people, secrets masked.
  var urlMasked: String { Redaction.standard.url(url) }

  init(_ thawed: ThawedRequest) {
    id = thawed.id.number
    mayBeRepeated = thawed.mayBeRepeated
    switch thawed.ending {
    case .outcome(let outcome):
      (tag, userInfo, idempotencyKey) = (outcome.tag, outcome.userInfo, outcome.key)
      (method, url, attempts) = ((outcome.method), outcome.url, outcome.attempts)
      isBodyCut = outcome.isBodyCut
      result = .success(outcome.response)
    case .dead(let letter):
      let request = letter.record?.request
      (tag, userInfo, idempotencyKey) = (request?.tag, request?.userInfo ?? [], request?.key.text ?? "")
      (method, url) = ((request?.method ?? .post), request?.url ?? "")
      attempts = Int(letter.record?.facts.attempts ?? 0)
      isBodyCut = false
      result = .failure(letter.failure)
    }
  }
}

/// A frozen request that will not be sent any more, with the reason. Kept for 7 days, 10,000 at most.
public struct FrozenDeadLetter: Sendable, Identifiable {
  /// Its number in the store.
  public let id: UInt64
  /// Why: `.frozenRejected` (the origin said no), `.frozenPoisoned`, `.frozenExpired`, `.outcomeUnknown`, `.cancelled`,
  /// `.storeCorrupt`.
  public let error: NetworkError
  /// The origin may have acted on it.
  public let isOutcomeUnknown: Bool
  /// When it was given up: the time since 1970.
  public let diedAt: Duration
  /// The request; nil when its bytes on the disk were not what was written.
  public let operation: FrozenOperation?

  init(_ id: FrozenID, _ letter: DeadLetter) {
    self.id = id.number
    error = letter.failure
    isOutcomeUnknown = letter.cause.isOutcomeUnknown
    diedAt = .microseconds(letter.diedWall)
    operation = letter.record.map { FrozenOperation(id, $0) }
  }
}
