internal import Synchronization

extension NetworkEngine {
  /// Makes sure that the request can be kept, and takes its body into memory: files may change. On the thread that
  /// enqueues. Opens the store with default settings if the engine has none yet.
  ///
  /// Throws `invalidRequest(streams, stream)`, `bodyTooLarge`, `uploadSourceFailed`, and what opening a store throws.
  func prepareToFreeze(_ request: inout NetworkRequest, hasStreams: Bool) throws(NetworkError) {
    let method = request.method
    guard !method.isSafe else {
      log("\(method.name) is not frozen: it changes nothing, and can be asked again")
      request.isFreezable = false
      return
    }
    if hasStreams { throw NetworkError(.invalidRequest, reason: "streams") }
    let freezing = try freezingOrDefault()
    request.extra.prepared = .bytes(
      try request.extra.prepared.bytes(atMost: freezing.freezer.settings.limits.bodyBytesMax))
  }

  /// Calls back with what becomes of requests whose operations ended with an earlier process; also now, for what is
  /// waiting to be told. Opens the store with default settings if the engine has none yet.
  func onThawed(
    tag: String?, _ handler: @escaping EngineFreezing.ThawHandler
  ) throws(NetworkError) {
    let freezing = try freezingOrDefault()
    freezing.add(tag, handler)
    freezing.freezer.dispatch { [self] in $0.offerEndings(to: self) }
  }

  var isClosedToNew: Bool { isClosed.load(ordering: .acquiring) }

  /// An exchange for a frozen request.
  func submitAttempt(_ operation: NetworkOperation) -> NetworkError? {
    isClosedToNew ? NetworkError(.engineClosed) : driver.submit(operation, limit: .max)
  }
}
