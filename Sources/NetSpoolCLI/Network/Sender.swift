import NetSpool
import Synchronization

/// Sends parcels, also from the loop thread: a body that broke off is begun again from there.
final class Sender: Sendable {
  /// One line, where its body goes, and who waits for it.
  struct Parcel: Sendable {
    var sources: Sources
    var options = LineOptions()
    /// Nil: the body is read and dropped.
    var path: String?
    /// What progress calls it.
    let name: String
    var completion: @Sendable (FetchOutcome) -> Void
    /// Attempts that were made before.
    var attempts = 0
  }

  /// How long a turn is waited for where another place could be asked: an origin may have said to come back in an hour.
  private static let turnMax = Duration.seconds(30)
  /// What is shorter is fetched anew.
  private static let partBytesMin: Int64 = 8 << 20

  let engine: NetworkEngine
  private let attemptsMax: Int
  private let digests: Bool
  private let book: CredentialBook
  private let certificate: NetworkCredentials?
  private let timeouts: NetworkRequest.Timeouts
  private let brake: ByteBrake?
  private let board: TransferBoard?
  private let resumes: Bool
  private let setsTime: Bool
  private let asksForNewer: Bool
  private let gate: ImageGate?
  #if Images
  private let thumbnails: ThumbnailMaker?
  #endif
  private let isDraining = Atomic(false)

  /// - Parameter gate: with `--images-only`.
  init(
    _ engine: NetworkEngine, _ options: FetchCommand, _ gate: ImageGate?, book: CredentialBook,
    board: TransferBoard?
  ) {
    self.board = board
    // What is on its way into a tar has another name in each run.
    resumes = options.continues && !options.writesTar
    setsTime = options.remoteTime || options.newer
    asksForNewer = options.newer
    self.engine = engine
    self.gate = gate
    #if Images
    thumbnails = ThumbnailMaker(options.pictures)
    #endif
    attemptsMax = options.request.retry + 1
    digests = options.checksum
    self.book = book
    certificate = options.connection.certificate
    timeouts = engine.configuration.timeouts
    brake = options.request.limitRate.map(ByteBrake.init)
  }

  func send(_ parcel: Parcel) {
    var request = NetworkRequest(url: parcel.sources.url)
    // An engine's total holds for bodies in memory only; as the request's own it holds for streams too.
    request.timeouts = timeouts
    if !parcel.sources.repeats {
      request.retry = .deadConnection
      request.timeouts?.queueDeadline = Self.turnMax
    }
    let operation = engine.operation(request)
    for field in parcel.options.headers { operation.addHeader(field.name, field.value ?? "") }
    if asksForNewer, let time = parcel.path.flatMap(FileStatus.modified) {
      operation.setHeader("If-Modified-Since", HTTPDate.format(time))
    }
    if let priority = parcel.options.priority { operation.priority = priority.operationPriority }
    if let who = credentials(for: parcel.sources.url) { operation.setCredentials(who) }
    #if Images
    if let thumbnails {
      return thumbnails.send(operation, of: engine, parcel) { [self] in didFail(parcel, $0) }
    }
    #endif
    let landing = gate?.landing(for: parcel.path)
    let file = addStreams(to: operation, parcel, landing)
    operation.onCompletion { [self] in didComplete(parcel, landing, $0, resumedAt: file?.resumedAt ?? 0) }
    operation.onError { [self] in didFail(parcel, $0) }
    engine.enqueue(operation)
  }

  private func addStreams(to operation: NetworkOperation, _ parcel: Parcel, _ landing: String?)
    -> FileDownloadStream?
  {
    let file = (landing ?? parcel.path).map { path in
      FileDownloadStream(
        path: path, resume: resumes && landing == nil, partBytesMin: Self.partBytesMin,
        sha256: parcel.options.sha256,
        digests: digests)
    }
    operation.addDownloadStream(file ?? DiscardStream.shared)
    if let board {
      let name = parcel.path == nil ? parcel.name : String(parcel.name.split(separator: "/").last ?? "")
      operation.addDownloadStream(TapStream(board, name: name) { file?.resumedAt ?? 0 })
    }
    if let brake { operation.addDownloadStream(BrakeStream(brake)) }
    return file
  }

  /// Waits for files that others write. Nothing may be sent any more.
  func close() {
    #if Images
    thumbnails?.close()
    #endif
  }

  private func credentials(for url: String) -> NetworkCredentials? {
    guard let account = book.credentials(for: url) else { return certificate }
    return certificate.map { $0.with(account) } ?? account
  }

  /// Ends what was not sent yet, attempts that wait for their next turn included.
  func drain() {
    isDraining.store(true, ordering: .relaxed)
    engine.cancel { $0.state == .queued }
  }

  /// - Parameter resumedAt: how much of the file an earlier attempt or run had fetched.
  private func didComplete(
    _ parcel: Parcel, _ landing: String?, _ response: NetworkResponse, resumedAt: Int64
  ) {
    if asksForNewer, response.status == 304 {
      return parcel.completion(FetchOutcome(unchanged: response, after: parcel.attempts))
    }
    let outcome = FetchOutcome(response, after: parcel.attempts, resumedAt: resumedAt)
    if outcome.ending != .done, goesOn(parcel, outcome) { return }
    if setsTime, outcome.ending == .done, let path = landing ?? parcel.path {
      FileTime.set(path, response.headers)
    }
    guard let gate, let landing, outcome.ending == .done else { return parcel.completion(outcome) }
    gate.judge(landing, parcel.path) { [engine] verdict in
      if case .refused = verdict {
        // The next run asks for it again.
        for url in Set([parcel.sources.url, response.finalURL]) { engine.removeCached(url: url) }
      }
      parcel.completion(outcome.judged(verdict))
    }
  }

  private func didFail(_ parcel: Parcel, _ error: NetworkError) {
    let outcome = FetchOutcome(error, after: parcel.attempts)
    if goesOn(parcel, outcome) { return }
    guard error.brokeOff, outcome.attempts < attemptsMax, !isDraining.load(ordering: .relaxed) else {
      return parcel.completion(outcome)
    }
    var again = parcel
    again.attempts = outcome.attempts
    send(again)
  }

  /// Asks the next of the line's URLs, if there is one that may help.
  private func goesOn(_ parcel: Parcel, _ outcome: FetchOutcome) -> Bool {
    guard case .failed(let permanence) = outcome.ending, !isDraining.load(ordering: .relaxed) else {
      return false
    }
    var next = parcel
    next.attempts = outcome.attempts
    switch permanence {
    case .local: return false
    case .forGood: guard next.sources.advance(mayPass: false) else { return false }
    case .forNow: guard next.sources.advance(mayPass: attemptsMax > 1) else { return false }
    }
    send(next)
    return true
  }
}

extension NetworkError {
  /// The body had begun. The library repeats only exchanges whose bytes no stream has seen; ours start over,
  /// so they may be repeated by us.
  fileprivate var brokeOff: Bool {
    if code == .resumeMismatch { return true }
    guard let status = response?.status, (200..<300).contains(status) else { return false }
    return [.connectionLost, .bodyTruncated, .timedOut, .http2Failed, .transportFailed].contains(code)
  }
}

extension PriorityName {
  fileprivate var operationPriority: NetworkRequest.Priority {
    switch self {
    case .low: .low
    case .normal: .normal
    case .high: .high
    case .urgent: .urgent
    }
  }
}

extension RequestOptions {
  /// Error pages longer than this are cut off: they are only looked at by people.
  static let errorPageBytesMax = 1 << 20
  /// Pictures that are made smaller are in memory as a whole.
  static let pictureBytesMax = 64 << 20

  /// The options as an engine's settings, but for the fields.
  var engineConfiguration: NetworkEngine.Configuration {
    var configuration = NetworkEngine.Configuration()
    if let limit = timeout.span.map({ Duration.seconds($0.seconds) }) {
      configuration.timeouts.total = limit
      configuration.timeouts.headers = min(limit, configuration.timeouts.headers)
      configuration.timeouts.connect = min(limit, configuration.timeouts.connect)
    } else {
      configuration.timeouts.total = nil
    }
    configuration.originPauseMax = .seconds(3600)  // a job has time
    configuration.retry = .attempts(retry + 1)
    configuration.limits.bodyBytesInMemoryMax = Self.errorPageBytesMax
    // A file may be as long as the disk; what unfolds too much of little is refused all the same.
    configuration.limits.decodedBytesMax = 1 << 40
    return configuration
  }
}
