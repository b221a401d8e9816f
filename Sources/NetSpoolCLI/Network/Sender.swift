import Dispatch
import NetSpool
import Synchronization

/// Sends parcels, also from the loop thread: a body that broke off is begun again from there.
final class Sender: Sendable {
  /// A line, where its body goes, and the completion that waits for it.
  struct Parcel: Sendable {
    var sources: Sources
    var options = LineOptions()
    /// Where redirects have led, with `--robots`, and how many; elsewhere the library follows them.
    var location: String?
    var hops = 0
    /// Nil: the body is read and dropped.
    var path: String?
    /// Its file's name in the output folder or the tar.
    var output: String?
    var completion: @Sendable (FetchOutcome) -> Void
    var attempts = 0
    /// The longest part that one of its attempts has left when its time was over.
    var partBytes: Int64 = 0
    /// With `--retry-max-time`.
    var clock: AttemptClock?
    /// True until a redirect leads to another origin. Secrets stay behind, as where the library follows, and are not given to
    /// the first origin either when a redirect comes back to it.
    var isAtHome = true

    fileprivate var url: String { location ?? sources.url }

    /// Goes where a redirect leads.
    fileprivate mutating func follow(to url: String) {
      isAtHome = isAtHome && URLText.origin(url) == URLText.origin(self.url)
      (location, hops) = (url, hops + 1)
    }

    /// Goes to the next of the line's URLs. False when there is none.
    fileprivate mutating func advance(mayPass: Bool) -> Bool {
      (location, hops, partBytes, isAtHome) = (nil, 0, 0, true)
      return sources.advance(mayPass: mayPass)
    }

    fileprivate var title: String {
      guard let output else { return URLText.masked(sources.url) }
      return path == nil ? output : String(output.split(separator: "/").last ?? "")
    }
  }

  /// How long a turn is waited for where another place could be asked: an origin may have said to come back in an hour.
  private static let turnMax = Duration.seconds(30)

  let engine: NetworkEngine
  private let options: FetchCommand
  private let book: CredentialBook
  private let certificate: NetworkCredentials?
  private let brake: ByteBrake?
  private let board: TransferBoard?
  private let resumes: Bool
  private let gate: ImageGate?
  /// True if anybody reads more of an outcome than its numbers.
  private let isDetailed: Bool
  private let robots: RobotsGate?
  /// Fields for the lines' own origins.
  private let secrets: [HeaderField]
  #if Images
  private let thumbnails: ThumbnailMaker?
  #endif
  private let isDraining = Atomic(false)

  init(
    _ engine: NetworkEngine, _ options: FetchCommand, _ gate: ImageGate?, book: CredentialBook,
    secrets: [HeaderField], robots: RobotsGate?, board: TransferBoard?
  ) {
    (self.engine, self.options, self.gate, self.book) = (engine, options, gate, book)
    (self.secrets, self.robots, self.board) = (secrets, robots, board)
    // What is on its way into a tar has another name in each run.
    // A range of a file is no part of it that could grow.
    resumes = options.continues && !options.landsBodies && !engine.configuration.headers.contains("Range")
    isDetailed = options.results != nil || options.writesTar
    #if Images
    thumbnails = ThumbnailMaker(options.pictures)
    #endif
    certificate = options.connection.certificate
    brake = options.request.limitRate.map(ByteBrake.init)
  }

  func send(_ parcel: Parcel) {
    guard let robots else { return dispatch(parcel) }
    robots.ask(parcel.url) { [self] verdict in
      switch verdict {
      // It has begun, and only goes on.
      case .allowed where parcel.hops > 0: dispatch(parcel)
      // It only waited for the file when the job was stopped.
      case _ where isDraining.load(ordering: .relaxed): parcel.completion(FetchOutcome(.cancelled))
      case .allowed: dispatch(parcel)
      case .refused: settle(parcel, FetchOutcome(robots: "robots.txt", after: parcel.attempts))
      case .unreachable:
        settle(parcel, FetchOutcome(robots: "robots.txt cannot be had", .forNow, after: parcel.attempts))
      }
    }
  }

  /// Ends a line, unless another of its URLs may help.
  private func settle(_ parcel: Parcel, _ outcome: FetchOutcome) {
    if !goesOn(parcel, outcome) { parcel.completion(outcome) }
  }

  private func dispatch(_ parcel: Parcel, after pause: Duration = .zero) {
    var request = NetworkRequest(url: parcel.url)
    if !parcel.sources.isLastRound {
      request.retry = .deadConnection
      request.timeouts.queueDeadline = Self.turnMax
    }
    let operation = engine.operation(request)
    operation.postpone(by: pause)
    parcel.clock?.bound(operation, after: pause)
    for field in parcel.options.headers + secrets
    where parcel.isAtHome || !NetworkRequest.Headers.isSecret(field.name) {
      operation.addHeader(field.name, field.value ?? "")
    }
    if options.newer, let time = parcel.path.flatMap(FileFacts.modified) {
      operation.setHeader("If-Modified-Since", HTTPDate.format(time))
    }
    if let priority = parcel.options.priority { operation.priority = priority }
    if parcel.isAtHome, let who = book.credentials(for: parcel.url, beside: certificate) {
      operation.setCredentials(who)
    }
    #if Images
    if let thumbnails {
      return thumbnails.send(operation, of: engine, parcel) { [self] in didFail(parcel, $0) }
    }
    #endif
    let landing = gate?.landing(for: parcel.path)
    let attempt = Attempt(parcel, landing: landing, file: makeFile(parcel, landing))
    addStreams(to: operation, attempt)
    operation.onCompletion { [self] in didComplete(attempt, $0) }
    operation.onError { [self] in didFail(attempt.parcel, $0, attempt.file) }
    engine.enqueue(operation)
  }

  /// What is under way: its end has several listeners, who share this.
  private final class Attempt: Sendable {
    let parcel: Parcel
    /// Where the body goes first, to be looked at.
    let landing: String?
    /// Nil where the body goes to no file.
    let file: FileDownloadStream?

    init(_ parcel: Parcel, landing: String?, file: FileDownloadStream?) {
      (self.parcel, self.landing, self.file) = (parcel, landing, file)
    }
  }

  private func makeFile(_ parcel: Parcel, _ landing: String?) -> FileDownloadStream? {
    (landing ?? parcel.path).map { path in
      FileDownloadStream(
        path: path, resume: resumes && landing == nil && !parcel.options.headers.contains { $0.isRange },
        partBytesMin: FilePart.bytesMin, sha256: parcel.options.sha256, digests: options.checksum)
    }
  }

  private func addStreams(to operation: NetworkOperation, _ attempt: Attempt) {
    let (parcel, file) = (attempt.parcel, attempt.file)
    operation.addDownloadStream(file ?? DiscardDownloadStream(digests: parcel.options.sha256 != nil))
    if let board {
      operation.addDownloadStream(TapStream(board, name: parcel.title) { file?.resumedAt ?? 0 })
    }
    if let brake { operation.addDownloadStream(brake) }
    // Behind the one that counts.
    if robots != nil { operation.addDownloadStream(RobotsStream()) }
  }

  /// Waits for files that others write. Nothing may be sent any more.
  func close() {
    #if Images
    thumbnails?.close()
    #endif
  }

  /// Ends what was not sent yet, attempts that wait for their next turn included.
  func drain() {
    isDraining.store(true, ordering: .relaxed)
    robots?.cancel()
    engine.cancel { $0.state == .queued || $0.state == .paused }
  }

  private func didComplete(_ attempt: Attempt, _ response: NetworkResponse) {
    let (parcel, landing, file) = (attempt.parcel, attempt.landing, attempt.file)
    if robots != nil, follows(parcel, response) { return }
    if options.newer, response.status == 304 {
      return parcel.completion(
        FetchOutcome(unchanged: response, after: parcel.attempts, bytes: parcel.path.flatMap(FileFacts.bytes))
      )
    }
    var found = FetchOutcome(
      response, after: parcel.attempts, resumedAt: file?.resumedAt ?? 0, isDetailed: isDetailed)
    found.name = options.names.name(response)
    let outcome = checked(found, of: parcel, response, file)
    if outcome.ending != .done, goesOn(parcel, outcome) { return }
    if options.remoteTime || options.newer, outcome.ending == .done, let path = landing ?? parcel.path {
      FileTime.set(path, response.headers)
    }
    guard let gate, let landing, outcome.ending == .done else { return parcel.completion(outcome) }
    gate.judge(landing, parcel.path) { [self] verdict in
      if case .refused = verdict { forget(parcel, response) }
      parcel.completion(outcome.judged(verdict))
    }
  }

  /// Sends the parcel to where a redirect leads, as far as the library would.
  private func follows(_ parcel: Parcel, _ response: NetworkResponse) -> Bool {
    guard [301, 302, 303, 307, 308].contains(response.status), options.connection.redirectsMax > 0,
      let url = response.redirectURL
    else { return false }
    var (next, refusal) = (parcel, nil as (code: NetworkError.Code, reason: String?)?)
    next.follow(to: url)
    if next.hops > options.connection.redirectsMax { refusal = (.tooManyRedirects, nil) }
    if URLText.origin(parcel.url).hasPrefix("https:"), !URLText.origin(url).hasPrefix("https:") {
      refusal = (.redirectRefused, "downgrade")
    }
    guard let refusal else {
      send(next)
      return true
    }
    var outcome = FetchOutcome(response, after: parcel.attempts, isDetailed: isDetailed)
    (outcome.ending, outcome.error, outcome.reason) = (
      .failed(.forGood), refusal.code.description, refusal.reason
    )
    settle(parcel, outcome)
    return true
  }

  /// A file looks at its digest itself, before it gets its name.
  private func checked(
    _ outcome: FetchOutcome, of parcel: Parcel, _ response: NetworkResponse, _ file: FileDownloadStream?
  ) -> FetchOutcome {
    guard file == nil, outcome.ending == .done, let wanted = parcel.options.sha256, outcome.sha256 != wanted
    else { return outcome }
    forget(parcel, response)
    return outcome.mismatching(wanted)
  }

  /// Removes an answer from the cache whose body is not wanted: the next run asks for it again.
  private func forget(_ parcel: Parcel, _ response: NetworkResponse?) {
    for url in Set([parcel.url, response?.finalURL ?? parcel.url]) { engine.removeCached(url: url) }
  }

  private func didFail(_ parcel: Parcel, _ error: NetworkError, _ file: FileDownloadStream? = nil) {
    if error.code == .sinkFailed, let refusal = error.subject, refusal.hasPrefix(RobotsStream.field) {
      forget(parcel, error.response)
      return settle(parcel, FetchOutcome(robots: refusal, after: parcel.attempts + error.attempts))
    }
    var outcome = FetchOutcome(error, after: parcel.attempts)
    if outcome.finalURL == nil, let url = error.url, URLText.authority(url) != URLText.authority(parcel.url) {
      outcome.finalURL = url
    }
    if error.code == .digestMismatch { forget(parcel, error.response) }
    // Its limit is for what stands still or never ends; this one is nearer to its end each time.
    if let bytes = grownPart(parcel, file, error), mayGoOn(parcel) {
      var next = parcel
      next.partBytes = bytes
      return send(next)
    }
    if goesOn(parcel, outcome) { return }
    let pause = RequestOptions.pause(after: outcome.attempts, options.request.retryDelay)
    guard error.brokeOff, outcome.attempts <= options.request.retries, mayGoOn(parcel, after: pause) else {
      return parcel.completion(outcome)
    }
    var again = parcel
    again.attempts = outcome.attempts
    dispatch(again, after: pause)
  }

  /// False once the job drains, and where the line's time is over.
  private func mayGoOn(_ parcel: Parcel, after pause: Duration = .zero) -> Bool {
    !isDraining.load(ordering: .relaxed) && parcel.clock?.hasTime(after: pause) ?? true
  }

  /// The length of the part, if an attempt ran out of time and has left a longer one than it found and
  /// than all before: a server that knows no ranges begins anew each time.
  private func grownPart(_ parcel: Parcel, _ file: FileDownloadStream?, _ error: NetworkError) -> Int64? {
    // The limit of the whole was over, though bytes may still have come.
    guard let file, error.code == .timedOut, error.cause == .total else { return nil }
    let before = max(file.resumedAt, parcel.partBytes)
    return FilePart.bytes(of: file.path).flatMap { $0 > before + FilePart.growthMin ? $0 : nil }
  }

  /// Asks the next of the line's URLs, if there is one that may help.
  private func goesOn(_ parcel: Parcel, _ outcome: FetchOutcome) -> Bool {
    guard case .failed(let permanence) = outcome.ending, mayGoOn(parcel) else { return false }
    var next = parcel
    next.attempts = outcome.attempts
    if case .local = permanence { return false }
    guard next.advance(mayPass: permanence == .forNow && options.request.retries > 0) else { return false }
    send(next)
    return true
  }
}

extension NetworkError {
  /// The body had begun. The library repeats only exchanges whose bytes no stream has seen; ours start over,
  /// so they may be repeated by us.
  var brokeOff: Bool {
    if code == .resumeMismatch { return true }
    guard let status = response?.status, (200..<300).contains(status) else { return false }
    return [.connectionLost, .bodyTruncated, .timedOut, .http2Failed, .transportFailed].contains(code)
  }
}

extension NetworkOperation {
  /// Keeps it from starting for this long, also when it is enqueued meanwhile.
  func postpone(by time: Duration) {
    guard time > .zero else { return }
    pause()
    DispatchQueue.global().asyncAfter(deadline: .now() + time.seconds) { self.resume() }
  }
}

/// What a download that broke off has left.
enum FilePart {
  /// What is shorter is fetched anew.
  static let bytesMin: Int64 = 8 << 20
  /// An attempt has to have added this much: the end of a part is asked for once more, to be compared.
  static let growthMin: Int64 = 256 << 10

  /// Nil when there is none.
  static func bytes(of path: String) -> Int64? { FileFacts.bytes(path + ".netspool-part") }
}

extension HeaderField { fileprivate var isRange: Bool { name.lowercased() == "range" } }

extension RequestOptions {
  /// Error pages longer than this are cut off: they are only looked at by people.
  static let errorPageBytesMax = 1 << 20
  /// Pictures that are made smaller are in memory as a whole.
  static let pictureBytesMax = 64 << 20

  /// The pause before the attempt that follows so many, as the library draws it between its own.
  static func pause(after attempts: Int, _ delay: TimeSpan?) -> Duration {
    let longest = min(30, 0.5 * Double(1 << min(max(attempts - 1, 0), 6)))
    return .seconds(delay?.seconds ?? Double.random(in: 0..<longest))
  }

  /// The options as an engine's settings, but for the fields.
  var engineConfiguration: NetworkEngine.Configuration {
    var configuration = NetworkEngine.Configuration()
    configuration.timeouts.total = retryMaxTime?.span.map { .seconds($0.seconds) }
    if let limit = limit.map({ Duration.seconds($0.seconds) }) {
      configuration.timeouts.attempt = limit
      configuration.timeouts.headers = min(limit, configuration.timeouts.headers)
      configuration.timeouts.connect = min(limit, configuration.timeouts.connect)
    }
    configuration.originPauseMax = .seconds(3600)  // a job has time
    // A default in a file is nobody's word that a POST may come twice.
    let isNamed = CommandLine.arguments.contains { $0 == "--retry" || $0.hasPrefix("--retry=") }
    configuration.retry = .attempts(
      retries + 1, anyMethod: isNamed, anyFailure: retryAllErrors,
      pause: retryDelay.map { .seconds($0.seconds) })
    if let maxFilesize { configuration.limits.bodyBytesStreamedMax = maxFilesize.bytes }
    configuration.limits.bodyBytesInMemoryMax = Self.errorPageBytesMax
    // A file may be as long as the disk; what unfolds too much of little is refused all the same.
    configuration.limits.decodedBytesMax = 1 << 40
    return configuration
  }
}
