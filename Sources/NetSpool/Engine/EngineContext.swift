internal import Dispatch
internal import Glibc
internal import Synchronization

/// What all operations of one engine share: its settings, its hooks, its way out. Immutable.
final class EngineContext: Sendable {
  /// The user's closures that act on every operation.
  struct Hooks: Sendable {
    /// Decides whether an answer is a success; nil is the default rule.
    var validate: (@Sendable (NetworkResponse) -> NetworkError?)?
    /// May change a request once, on the thread that enqueues; throwing ends the operation.
    var prepare: (@Sendable (inout NetworkRequest) throws -> Void)?
    var onUnhandledFailure: (@Sendable (NetworkError) -> Void)?
    var log: (@Sendable (_ message: @autoclosure () -> String) -> Void)?
    init() {}
  }

  let id: UInt64
  let driver: QueueDriver
  let target: DeliveryTarget
  let headers: Headers
  let handleSettings: HandleSettings
  /// The lines of a request without fields of its own.
  let plainLines: [String]
  /// Bodies are decoded, unless the engine names the codings itself.
  let decodes: Bool
  /// Whose requests these are, at which origin.
  let credential: EngineCredential?
  /// Whether Basic and Bearer may go over plain HTTP.
  let allowsCredentialsInClear: Bool
  let timeouts: NetworkRequest.Timeouts
  let retry: NetworkRequest.Retry
  let redirects: NetworkRequest.Redirects
  let limits: NetworkEngine.Limits
  let hooks: Hooks
  /// Where its paths lead; nil when every operation has an absolute URL.
  let home: URLPieces.Origin?
  let reachabilityBoard = ReachabilityBoard()
  let isClosed = Atomic(false)
  private let caching = Mutex<EngineCache?>(nil)
  private let hasCache = Atomic(false)
  private let freezes = Mutex<EngineFreezing?>(nil)
  /// Opens the store of frozen requests with default settings.
  private let openFreezing: (@Sendable (QueueDriver) throws(NetworkError) -> EngineFreezing)?
  /// Ended without the loop and not yet delivered.
  private let ended = Mutex(Ended())
  private let hasEnded = Atomic(false)
  /// The queue that the driver belongs to: as long as an operation lives, its loop thread runs.
  private let owner: (any AnyObject & Sendable)?

  private static let lastID = Atomic<UInt64>(0)

  init(
    driver: QueueDriver, target: DeliveryTarget, headers: Headers,
    handleSettings: HandleSettings = HandleSettings(), credential: EngineCredential? = nil,
    allowsCredentialsInClear: Bool = false, timeouts: NetworkRequest.Timeouts = .standard,
    retry: NetworkRequest.Retry, redirects: NetworkRequest.Redirects,
    limits: NetworkEngine.Limits = .standard, hooks: Hooks = Hooks(),
    home: URLPieces.Origin? = nil, owner: (any AnyObject & Sendable)? = nil,
    openFreezing: (@Sendable (QueueDriver) throws(NetworkError) -> EngineFreezing)? = nil
  ) {
    id = Self.lastID.add(1, ordering: .relaxed).newValue
    self.driver = driver
    self.target = target
    self.headers = headers
    self.handleSettings = handleSettings
    plainLines = HeaderLines.plain(headers)
    decodes = !headers.contains("Accept-Encoding")
    self.credential = credential
    self.allowsCredentialsInClear = allowsCredentialsInClear
    self.timeouts = timeouts
    self.retry = retry
    self.redirects = redirects
    self.limits = limits
    self.hooks = hooks
    self.home = home
    self.owner = owner
    self.openFreezing = openFreezing
  }

  var usesProxy: Bool { handleSettings.plainProxy != nil || handleSettings.secureProxy != nil }

  /// Nil until `useCache`.
  var cache: EngineCache? {
    hasCache.load(ordering: .acquiring) ? caching.withLock { $0 } : nil
  }

  /// Opens the cache if there is none.
  func useCache(_ open: () throws(NetworkError) -> EngineCache) throws(NetworkError) {
    try caching.withLock { cache throws(NetworkError) in
      if cache == nil { cache = try open() }
    }
    hasCache.store(true, ordering: .releasing)
  }

  /// Nil until `useFreezing`, or until the first operation is frozen.
  var freezing: EngineFreezing? { freezes.withLock { $0 } }

  /// Opens the store of frozen requests if the engine has none. Returns whether it had none.
  @discardableResult
  func useFreezing(_ open: () throws(NetworkError) -> EngineFreezing) throws(NetworkError) -> Bool {
    let opened = try freezes.withLock { freezing throws(NetworkError) -> EngineFreezing? in
      if freezing != nil { return nil }
      freezing = try open()
      return freezing
    }
    opened?.freezer.dispatch { [self] in $0.add(self) }
    return opened != nil
  }

  func freezingOrDefault() throws(NetworkError) -> EngineFreezing {
    if let freezing { return freezing }
    guard let openFreezing else { throw NetworkError(.invalidConfiguration, reason: "freezing") }
    try useFreezing { () throws(NetworkError) in try openFreezing(driver) }
    guard let freezing else { throw NetworkError(.engineClosed) }
    return freezing
  }

  func prepare(_ request: inout NetworkRequest) throws(NetworkError) {
    guard let prepare = hooks.prepare else { return }
    do {
      try prepare(&request)
    } catch let failure as NetworkError {
      throw failure
    } catch {
      throw NetworkError(.invalidRequest, reason: "prepare threw \(error)")
    }
  }

  /// Any thread. Accepts the operation or answers why not.
  func submit(_ operation: NetworkOperation) -> NetworkError? {
    if isClosed.load(ordering: .acquiring) { return NetworkError(.engineClosed) }
    return driver.submit(operation, limit: limits.operationsQueuedMax)
  }

  /// An answer of 400 to 599 is an error with the answer inside, unless `validate` says otherwise, or it is known to be
  /// a success.
  func judge(_ outcome: NetworkOperation.Outcome, isSuccess: Bool = false) -> NetworkOperation.Outcome {
    guard case .success(let response) = outcome else { return outcome }
    if let validate = hooks.validate {
      guard var failure = validate(response) else { return outcome }
      failure.response = failure.response ?? response
      return .failure(failure)
    }
    guard response.head.status >= 400, !isSuccess else { return outcome }
    return .failure(NetworkError(status: response))
  }

  /// Any thread: accepts nothing more, lets what runs end until the deadline, ends the rest. `done` comes behind the last
  /// final event.
  func shutDown(deadline: Duration, done: @escaping @Sendable () -> Void) {
    isClosed.store(true, ordering: .releasing)
    // Nothing runs, but what ended without the loop may be on its way to its closures.
    guard driver.isStarted else { return deliverLate(done) }
    if !driver.perform({ [self] core in core.shutDown(self, deadline: deadline, done: done) }) { done() }
  }

  /// A handler that came after the end.
  func deliverLate(_ body: @escaping @Sendable () -> Void) {
    switch target {
    case .queue(let queue): queue.async { Delivery.run([()]) { body() } }
    case .loopThread:
      if driver.perform({ _ in Delivery.run([()]) { body() } }) { return }
      Self.withoutLoop.async { Delivery.run([()]) { body() } }
    }
  }

  private struct Ended {
    var operations: [NetworkOperation] = []
    /// Somebody is on the way to the delivery target, or there.
    var isFetched = false
  }

  /// One that ended without the loop. Many that end in a row share one hop to the delivery target: those that
  /// end while it delivers go along.
  func deliverSoon(_ operation: NetworkOperation) {
    let isFetched = ended.withLock { ended in
      ended.operations.append(operation)
      hasEnded.store(true, ordering: .relaxed)
      defer { ended.isFetched = true }
      return ended.isFetched
    }
    if !isFetched { deliverLate { [self] in deliverEnded() } }
  }

  private func deliverEnded() {
    var isBurst = false
    var batch: [NetworkOperation] = []
    for _ in 0..<Self.batchesMax {
      if isBurst { awaitNext() }
      takeEnded(into: &batch)
      if batch.isEmpty { return }
      if batch.count > 1 { isBurst = true }
      for operation in batch {
        operation.deliver(.state(.finished))
        operation.deliver(.final)
      }
      batch.removeAll(keepingCapacity: true)
    }
    deliverLate { [self] in deliverEnded() }
  }

  /// Then others that have something for the delivery target get their turn.
  private static let batchesMax = 16

  /// Where several ended just now the next is a few microseconds away, and to be woken for it costs both threads
  /// more than to look again.
  private func awaitNext() {
    for _ in 0..<Self.looksMax where !hasEnded.load(ordering: .relaxed) { sched_yield() }
  }

  private static let looksMax = 16

  /// Leaves the emptied buffer in exchange.
  private func takeEnded(into batch: inout [NetworkOperation]) {
    ended.withLock { ended in
      swap(&ended.operations, &batch)
      ended.isFetched = !batch.isEmpty
      hasEnded.store(false, ordering: .relaxed)
    }
  }

  /// Where closures run that belong on a loop thread that is no more: an ending must come all the same.
  private static let withoutLoop = DispatchQueue(label: "netspool.without-loop")
}

extension NetworkError {
  /// The origin answered, with a status that says no.
  init(status response: NetworkResponse) {
    self.init(
      .status, reason: "\(response.head.status)", underlying: .http(response.head.status),
      sendState: .answered)
    self.response = response
    url = Redaction.standard.url(response.finalURL)
  }
}
