import Glibc
import NetSpool
import Synchronization

/// The job's network: one engine, on a queue of its own that is as wide as `--jobs` and `--per-origin` say.
///
/// Endings come on the loop thread and go straight to the job's mailbox, so no queue hop is paid for them.
final class EngineFetcher: Fetcher {
  private let sender: Sender
  private let destination: Destination?
  private let gate: ImageGate?
  private let archive: HARWriter?

  enum Destination {
    case folder(OutputFolder)
    /// On the way into a tar.
    case landing(LandingFolder)
  }

  /// Throws `NetworkError` for settings that the library refuses, `StoreFailure` for a cache that cannot be used,
  /// and `IOFailure`.
  /// - Parameter cache: where it cannot be used a job goes on without it, unless the command line names it.
  init(
    _ options: FetchCommand, _ destination: Destination?, cache: CacheConfiguration?,
    clock: (@Sendable () -> Int64)?, environment: Environment, board: TransferBoard?, console: Console
  ) throws {
    self.destination = destination
    var fields = try options.request.fields()
    options.cookies.add(to: &fields.sent, unless: fields.names("Cookie"))
    var configuration = options.request.engineConfiguration
    options.connection.apply(to: &configuration, environment)
    (configuration.headers, configuration.omittedFields) = (fields.sent, fields.omitted)
    var secrets: [HeaderField] = []
    if options.robots {
      // The sender follows redirects, as it asks before, and keeps what is secret to a line's own origin.
      configuration.redirects = .none
      configuration.headers = NetworkRequest.Headers()
      for field in fields.sent {
        if NetworkRequest.Headers.isSecret(field.name) {
          secrets.append(HeaderField(name: field.name, value: field.value))
        } else {
          configuration.headers.add(field.name, field.value)
        }
      }
    }
    configuration.allowsCredentialsInClear = options.account.inClear
    configuration.queue = try NetworkQueue(configuration: options.queueConfiguration)
    configuration.delivery = .loopThread
    if options.pictures.maxSide != nil {
      configuration.limits.bodyBytesInMemoryMax = RequestOptions.pictureBytesMax
    }
    archive = try options.har.map(HARWriter.init)
    configuration.onEnd = archive?.record(configuration.headers)
    let engine = try NetworkEngine(configuration: configuration)
    do { if let cache { try engine.useCache(cache, clock: clock, console: console) } } catch {
      guard options.cache.place.directory == nil else { throw error }
      console.message("netspool: \(error); it goes on without a cache")
    }
    let temporary = destination == nil ? Ledger.temporaryDirectory(environment) : nil
    gate = options.imagesOnly ? try ImageGate(temporaryIn: temporary) : nil
    sender = Sender(
      engine, options, gate, book: try options.account.book(environment), secrets: secrets,
      robots: try options.robots ? RobotsGate(engine) : nil, board: board)
  }

  func start(_ item: FetchItem, completion: @escaping @Sendable (FetchOutcome) -> Void) {
    var parcel = Sender.Parcel(
      sources: Sources(item.url, mirrors: item.options.mirrors), options: item.options, output: item.output,
      completion: completion, clock: sender.engine.configuration.timeouts.total.map(AttemptClock.init))
    switch destination {
    case nil: break
    case .folder(let folder):
      do throws(IOFailure) { parcel.path = try item.output.map(folder.makePath) } catch {
        return completion(FetchOutcome(local: error.code))
      }
    case .landing(let folder): parcel.path = folder.path(for: item)
    }
    sender.send(parcel)
  }

  /// What is under way may fill the rest.
  var isAheadOfCache: Bool {
    guard let writes = sender.engine.budgets.cacheWrites, let most = writes.heldMax else { return false }
    return writes.held > most / 8
  }

  var unstored: Int { sender.engine.budgets.cacheWrites?.refused ?? 0 }
  func cancelWaiting() { sender.drain() }
  func cancelAll() { sender.engine.cancelAll() }

  /// Ends the network's threads; what still runs ends as cancelled, and its unfinished files are removed. What was
  /// fetched is in the cache when this returns.
  /// - Returns: what could not be written of the archive.
  func close() -> IOFailure? {
    sender.engine.configuration.queue.close()
    gate?.close()
    sender.close()
    sender.engine.closeCache()
    if case .landing(let folder) = destination { folder.remove() }
    return archive?.close()
  }
}

extension FetchCommand {
  /// A fixed number of jobs is a promise; `auto` lets the queue find each origin's best width.
  fileprivate var queueConfiguration: NetworkQueue.Configuration {
    var configuration = NetworkQueue.Configuration()
    // Each loop counts for itself what an origin may get at once.
    configuration.loops = perOrigin == nil ? .automatic : .fixed(1)
    switch jobs {
    case .auto:
      if let perOrigin {
        configuration.maximumPerOrigin = perOrigin
        configuration.maximumConcurrent = max(perOrigin, configuration.maximumConcurrent)
      }
    case .fixed(let count):
      let perOrigin = min(perOrigin ?? count, count)
      configuration.sizing = .fixed(perOrigin)
      configuration.maximumPerOrigin = perOrigin
      configuration.maximumConcurrent = count
    }
    return configuration
  }
}

/// `--limit-rate`: slows the operations it is added to by taking all their bodies together only so fast. Keeps nothing.
final class ByteBrake: WatchingStream {
  private let tokens: Mutex<RateLimiter>

  init(_ rate: ByteSize) { tokens = Mutex(RateLimiter(perSecond: Double(rate.bytes))) }

  func take(_ count: Int, now: Int64 = MonotonicTime.now) -> Int {
    tokens.withLock { $0.take(upTo: count, now: now) }
  }

  func write(_ bytes: RawSpan) -> WriteResult { .took(take(bytes.byteCount)) }
}

/// The library's endings as the job counts them.
extension FetchOutcome {
  /// - Parameters:
  ///   - attempts: made before this operation.
  ///   - resumedAt: bytes of the file that were there before this operation.
  ///   - isDetailed: whether anybody reads more than its numbers.
  init(_ response: NetworkResponse, after attempts: Int = 0, resumedAt: Int64 = 0, isDetailed: Bool = true) {
    // A 304 or a 300 without a Location is an answer, but not the body that was asked for.
    let isDone = response.status < 300
    self.init(isDone ? .done : .failed(.forGood))
    take(response, after: attempts, isDetailed: isDetailed)
    bytes += resumedAt
    if !isDone { error = NetworkError.Code.status.description }
  }

  /// With `--newer`: the file, of so many bytes, is as new as what the origin has.
  init(unchanged response: NetworkResponse, after attempts: Int, bytes: Int64?) {
    self.init(.done)
    take(response, after: attempts)
    (self.bytes, source) = (bytes ?? 0, .revalidated)
  }

  init(_ error: NetworkError, after attempts: Int = 0) {
    let status = error.response?.status
    let isRefusal = error.isRefusal
    let code = isRefusal ? .status : error.code
    switch error.code {
    case .cancelled, .engineClosed: self.init(.cancelled)
    default: self.init(.failed(Permanence(code, status: status, errno: error.errno)))
    }
    self.attempts = attempts + error.attempts
    if let response = error.response { take(response, after: attempts) }
    retryAfter = isRefusal ? error.response?.headers["Retry-After"] : nil
    self.error = code.description
    reason = isRefusal ? nil : error.errno.map(Self.systemText) ?? error.reason
  }

  /// A target on this machine that cannot be written, found before anything was sent.
  init(local errno: Int32) {
    self.init(.failed(.local(errno: errno)))
    error = NetworkError.Code.sinkFailed.description
    reason = Self.systemText(errno)
    attempts = 0
  }

  /// The same once its body was looked at, or could not get its name.
  func judged(_ verdict: ImageGate.Verdict) -> FetchOutcome {
    switch verdict {
    case .passed: self
    case .refused(let reason): refused(.forGood, .decodeFailed, reason)
    case .failed(let errno): refused(.local(errno: errno), .sinkFailed, Self.systemText(errno))
    }
  }

  /// The same once its body was found to be another than its line names.
  func mismatching(_ sha256: String) -> FetchOutcome {
    let reason = "the SHA-256 is \(self.sha256 ?? "none") instead of \(sha256)"
    return refused(Permanence(.digestMismatch), .digestMismatch, reason)
  }

  private func refused(_ permanence: Permanence, _ code: NetworkError.Code, _ reason: String)
    -> FetchOutcome
  {
    var outcome = self
    (outcome.ending, outcome.error) = (.failed(permanence), code.description)
    (outcome.reason, outcome.sha256) = (reason, nil)
    return outcome
  }

  private mutating func take(_ response: NetworkResponse, after attempts: Int, isDetailed: Bool = true) {
    let metrics = response.metrics
    status = response.status
    // A picture in memory that the cache had was not received.
    let held = metrics.bytesReceived > 0 ? metrics.bytesReceived : Int64(response.body.count)
    bytes = response.streams.first?.bytes ?? held
    source = response.source
    sha256 = response.streams.first?.sha256
    self.attempts = attempts + metrics.attempts
    guard isDetailed else { return }
    timings = Timings(metrics)
    finalURL = response.finalURL
    contentType = response.headers["Content-Type"]
    etag = response.headers["ETag"]
  }

  private static func systemText(_ errno: Int32) -> String { unsafe String(cString: strerror(errno)) }
}

extension FetchOutcome.Timings {
  init(_ metrics: NetworkResponse.Metrics) {
    self.init(
      queue: metrics.queueWait.microseconds, dns: metrics.nameLookup.microseconds,
      connect: metrics.connect.microseconds, tls: metrics.tlsHandshake.microseconds,
      firstByte: metrics.firstByte.microseconds, total: metrics.total.microseconds)
  }
}

extension NetworkError {
  /// The system's number, where the system refused something.
  var errno: Int32? {
    switch underlying {
    case .errno(let number): number
    // On Linux libuv's numbers are the system's, made negative; beyond them are its own, as for names.
    case .uv(let number) where (-1_023..<0).contains(number): -number
    default: nil
    }
  }
}
